//! A service on the loopback address that answers requests from a script, one a connection, in order.

use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

/// The service; it ends with the test's process.
pub struct Service {
    /// Where it is.
    pub url: String,
    asked: Arc<Mutex<Vec<(String, Value, String)>>>,
}

impl Service {
    /// Starts with answers: everything behind `HTTP/1.1 `, the body behind an empty line.
    pub fn start(answers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/work", listener.local_addr().unwrap());
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        let asked = Arc::<Mutex<Vec<(String, Value, String)>>>::default();
        let heard = asked.clone();
        thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut first, mut key, mut length) = (String::new(), String::new(), 0);
                reader.read_line(&mut first).unwrap();
                for line in reader.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty()) {
                    let (name, value) = line.split_once(": ").unwrap();
                    if name.eq_ignore_ascii_case("content-length") {
                        length = value.parse().unwrap();
                    }
                    if name.eq_ignore_ascii_case("idempotency-key") {
                        value.clone_into(&mut key);
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                heard.lock().unwrap().push((first.trim().to_owned(), serde_json::from_slice(&body).unwrap_or_default(), key));
                let (head, body) = answer.split_once("\n\n").unwrap();
                let (head, length) = (head.replace('\n', "\r\n"), body.len());
                write!(stream, "HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
            }
        });
        Self { url, asked }
    }

    /// The requests so far: the first line, the body, and the key that makes one request of several.
    pub fn asked(&self) -> Vec<(String, Value, String)> {
        self.asked.lock().unwrap().clone()
    }
}
