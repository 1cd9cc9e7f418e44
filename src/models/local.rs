//! A model's server on this machine: Ollama or LM Studio on its usual port. Looking for one sends a GET to loopback, and never takes
//! longer than a blink: a port where nobody listens refuses at once.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use super::providers::known;

/// How long one port may take in all.
const BLINK: Duration = Duration::from_millis(150);
/// As much as is read to recognise a list of models.
const LARGEST: u64 = 16 << 10;

/// The address of the first one that answers with a list of models.
pub fn find() -> Option<String> {
    let usual = known().iter().filter(|provider| provider.traits.is_local).filter_map(|provider| provider.address.as_ref());
    usual.filter_map(|address| reqwest::Url::parse(address).ok()?.port()).find(|port| lists_models(*port)).map(address)
}

fn address(port: u16) -> String {
    format!("http://localhost:{port}/v1")
}

fn lists_models(port: u16) -> bool {
    ask(port).is_ok_and(|answer| {
        let is_good = answer.starts_with("HTTP/1.1 200") || answer.starts_with("HTTP/1.0 200");
        is_good && answer.contains("\"object\"") && answer.contains("\"list\"")
    })
}

fn ask(port: u16) -> std::io::Result<String> {
    let started = Instant::now();
    let mut socket = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), BLINK)?;
    socket.set_write_timeout(Some(BLINK))?;
    socket.write_all(
        format!("GET /v1/models HTTP/1.1\r\nHost: localhost:{port}\r\nAccept: application/json\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    while let Some(left) = BLINK.checked_sub(started.elapsed()).filter(|left| !left.is_zero()) {
        socket.set_read_timeout(Some(left))?;
        match socket.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(count) => answer.extend_from_slice(&piece[..count]),
        }
        if answer.len() as u64 > LARGEST {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// What a server that answers so is taken for.
    fn taken(answer: &'static str) -> bool {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            let count = socket.read(&mut request).unwrap();
            socket.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&request[..count]).into_owned()
        });
        let taken = lists_models(port);
        assert!(server.join().unwrap().starts_with("GET /v1/models "));
        taken
    }

    #[test]
    fn only_a_server_that_lists_models_is_found() {
        assert!(taken("HTTP/1.1 200 OK\r\n\r\n{\"object\":\"list\",\"data\":[]}"));
        assert!(!taken("HTTP/1.1 200 OK\r\n\r\n<html></html>"));
        assert!(!taken("HTTP/1.1 404 Not Found\r\n\r\n{\"object\":\"list\"}"));
        // Bound, then dropped: nobody listens there.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        assert!(!lists_models(port));
    }
}
