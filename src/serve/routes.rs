//! Which address is answered by what.

use super::{
    access, chat,
    http_error::HttpError,
    http_server::{HttpServer, ServeOptions},
    sessions,
};
use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{get, post},
};
use std::{io, sync::Arc};
use tokio::net::TcpListener;

/// The largest body that is read, in bytes.
const BODY: usize = 4 << 20;

/// Serves until the future is dropped.
///
/// # Errors
/// When the listener fails.
pub async fn serve(listener: TcpListener, options: ServeOptions) -> io::Result<()> {
    let server = Arc::new(HttpServer::new(options));
    let routes = Router::new()
        .route("/v1/chat/completions", post(chat::complete))
        .route("/v1/models", get(chat::models))
        .route("/v1/models/{model}", get(chat::model))
        .route("/v1/orchestration/{session}/state", get(sessions::state))
        .route("/v1/orchestration/{session}/events", get(sessions::events))
        .route("/v1/orchestration/{session}/respond", post(sessions::respond))
        .route("/v1/orchestration/{session}/commands", post(sessions::command))
        .fallback(|| async { HttpError::not_found("there is no such address") })
        .method_not_allowed_fallback(|| async { HttpError::new(405, "method_not_allowed", "this address takes another method") })
        .layer(DefaultBodyLimit::max(BODY))
        .layer(middleware::from_fn_with_state(server.clone(), access::admit))
        .with_state(server);
    axum::serve(listener, routes).await
}
