//! `HttpError`: an error in the shape that OpenAI's clients read. Clients send again what was answered with 408, 409, 429 or 500 and more,
//! so a chat that may have begun never gets one of these.

use crate::host::client::Problem;
use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct HttpError {
    status: u16,
    code: &'static str,
    message: String,
}

impl HttpError {
    pub(super) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// The request is wrong in itself.
    pub(super) fn wrong(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_request", message)
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(404, "not_found", message)
    }

    /// The request is right, and nothing comes of it.
    pub(super) fn refused(code: &'static str, problem: &Problem) -> Self {
        let hint = problem.hint.as_ref().map(|hint| format!("; hint: {hint}")).unwrap_or_default();
        Self::new(422, code, format!("{}{hint}", problem.message))
    }

    pub(super) fn host_is_gone() -> Self {
        Self::new(503, "host_ended", "the host has ended")
    }

    pub(super) fn body(&self) -> Value {
        let kind = match self.status {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {"message": self.message, "type": kind, "param": null, "code": self.code}})
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body().to_string()));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.status == 429 {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}
