//! dagdeck over HTTP: chat completions as OpenAI's clients send them, and the routes of the runs that follow from them. It connects to a
//! host as a console does; it plans and runs nothing itself. Who may ask what is in `access`.

mod access;
mod chat;
mod chat_request;
mod chat_run;
mod http_error;
mod http_server;
mod routes;
mod sessions;

pub use access::{BearerToken, HttpRole, TokenError};
pub use http_server::ServeOptions;
pub use routes::serve;
