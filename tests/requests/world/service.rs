//! What an operator of a web service has at hand: logs of three kinds, deployments, scripts, a runbook.

use super::pick;
use std::fmt::Write as _;

const COMPONENTS: [&str; 6] = ["auth", "db", "cache", "api", "auth-proxy", "mailer"];

/// 140 entries of 2024-03-11, from 08:00 to 10:19. INFO and DEBUG texts speak of errors too; two entries are followed by a stack trace.
fn app_log() -> String {
    let mut text = String::new();
    for index in 0..140 {
        let (level, message) = match index * 13 % 20 {
            0 | 7 => ("ERROR", pick(&["timeout after 30 s", "connection refused", "timeout after 5 s", "disk full on /var"], index / 3)),
            1 | 9 | 14 => ("WARN", pick(&["slow query took 900 ms", "retrying request", "Timeout is near"], index)),
            4 | 11 | 17 => ("DEBUG", pick(&["error counter reset", "pool size 8"], index)),
            19 if index > 90 => ("FATAL", "out of memory"),
            5 => ("INFO", "finished with 0 errors"),
            _ => ("INFO", pick(&["user login ok", "request served", "cache warmed", "mail queued"], index)),
        };
        let component = pick(&COMPONENTS, index * 5 + index / 7);
        writeln!(text, "2024-03-11 {:02}:{:02}:{:02} {level} [{component}] {message}", 8 + index / 60, index % 60, index * 17 % 60)
            .unwrap();
        if level == "ERROR" && (40..80).contains(&index) && index % 3 == 0 {
            text.push_str("  at pool.acquire (pool.rs:88)\n  at handler.run (handler.rs:31)\n");
        }
    }
    text
}

/// 30 entries of another service, with levels in lower case; no newline at the end.
fn worker_log() -> String {
    let lines = (0..30).map(|index| {
        let level = pick(&["info", "info", "warn", "info", "error", "info", "debug"], index * 2);
        let message = pick(&["job done", "job started", "job failed", "queue empty", "lease lost"], index);
        format!("2024-03-{}T{:02}:30:00Z {level} worker-{}: {message} id={}", 12 + index / 24, index % 24, 1 + index % 3, 500 + index)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// 90 requests of 2024-03-12 in the combined format.
fn access_log() -> String {
    const PATHS: [&str; 8] =
        ["/", "/index.html", "/api/orders", "/login", "/static/app.js", "/api/orders?page=2", "/admin", "/api/customers"];
    const HOSTS: [&str; 6] = ["203.0.113.7", "198.51.100.23", "203.0.113.70", "192.0.2.44", "198.51.100.2", "203.0.113.7"];
    let mut text = String::new();
    for index in 0..90 {
        let path = pick(&PATHS, index * index / 5 + index);
        let method = if path.starts_with("/login") || index % 9 == 4 { "POST" } else { "GET" };
        let status = match index * 7 % 19 {
            3 | 12 => 404,
            8 if index > 20 => 500,
            10 => 301,
            13 if index > 5 => 403,
            14 if index > 60 => 503,
            _ => 200,
        };
        let bytes = if status == 301 { 0 } else { 200 + index * 379 % 5000 };
        let agent = pick(&["Mozilla/5.0", "curl/8.5.0", "Mozilla/5.0", "Googlebot/2.1"], index / 2);
        let host = pick(&HOSTS, index * index / 7 + index);
        let time = format!("12/Mar/2024:{:02}:{:02}:05 +0000", 6 + index / 15, index * 4 % 60);
        writeln!(text, "{host} - - [{time}] \"{method} {path} HTTP/1.1\" {status} {bytes} \"-\" \"{agent}\"").unwrap();
    }
    text
}

/// 40 events, one JSON object a line; `ms` is missing where nothing was measured.
fn events() -> String {
    let mut text = String::new();
    for index in 0..40 {
        let kind = pick(&["login", "purchase", "logout", "view", "view", "login", "view"], index * 3 + index / 9);
        let user = pick(&["ann", "bob", "cem", "dora", "bob", "eli", "Ann", "cem", "bob"], index * index / 3 + index);
        let country = pick(&["DE", "FR", "US", "DE", "GB", "DE", "US"], index + index / 4);
        let is_ok = index % 8 != 5;
        let measured = if kind == "logout" { String::new() } else { format!(", \"ms\": {}", 20 + index * 53 % 700) };
        let amount = if kind == "purchase" {
            format!(", \"amount\": {}.{}", 10 + index * 9 % 80, if index % 2 == 0 { 5 } else { 25 })
        } else {
            String::new()
        };
        writeln!(text, "{{\"ts\": \"2024-03-12T{:02}:{:02}:00Z\", \"type\": \"{kind}\", \"user\": \"{user}\", \"country\": \"{country}\", \"ok\": {is_ok}{measured}{amount}}}", 6 + index / 4, index * 15 % 60).unwrap();
    }
    text
}

const RUNBOOK: &str = "# Runbook

## Start

Run `scripts/check.sh` first.

## Restart

1. Drain the node.
2. Restart the service.
3. Watch for timeout errors for 10 minutes.

## Rollback

Ask the person on duty.

## Contacts

On duty: Mira (mira@example.com)
Database: Tom (tom@example.com)
";

const PROD: &str = "service: gateway
replicas: 6
image: registry.example.com/gateway:2.4.1
resources:
  cpu: 2
  memory: 4Gi
env:
  LOG_LEVEL: warn
  FEATURE_CACHE: true
ports: [8080, 9090]
";

const STAGING: &str = "service: gateway
replicas: 2
image: registry.example.com/gateway:2.5.0
resources:
  cpu: 2
  memory: 2Gi
env:
  LOG_LEVEL: debug
  FEATURE_CACHE: true
ports: [8080, 9090]
";

const HOSTS: &str = "# hosts of the cluster
web-01 10.0.0.11 up
web-02 10.0.0.12 down

web-03 10.0.0.13 up
db-01 10.0.1.5 up
db-02 10.0.1.6 up
# retired: web-00
cache-01 10.0.2.9 down
";

pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("logs/app.log", app_log()),
        ("logs/worker.log", worker_log()),
        ("logs/access.log", access_log()),
        ("logs/events.jsonl", events()),
        ("logs/old/app-2024-01.log", "2024-01-31 23:59:58 INFO [api] rotated\n2024-01-31 23:59:59 ERROR [db] connection refused\n".into()),
        ("logs/old/app-2024-02.log", "2024-02-29 23:59:59 INFO [api] rotated\n".into()),
        ("logs/old/empty.log", String::new()),
        ("deploy/prod.yaml", PROD.into()),
        ("deploy/staging.yaml", STAGING.into()),
        ("deploy/hosts.txt", HOSTS.into()),
        ("scripts/check.sh", "echo checking\necho disk: ok\necho memory: ok\necho 3 checks passed >&2\n".into()),
        ("scripts/report.sh", "echo uptime 42 days\necho load 0.17\n".into()),
        ("scripts/fail.sh", "echo starting\nexit 3\n".into()),
        ("runbook.md", RUNBOOK.into()),
        (".env", "DB_PASSWORD=hunter2hunter2\nLOG_LEVEL=info\n".into()),
    ]
}
