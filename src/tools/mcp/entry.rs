//! `McpEntry`: a server as a file names it, in the form that other clients read as well (`mcpServers`). Reads text, starts nothing.
//! A server that can't be understood is a problem of its own and hides no other.

use super::error::McpError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt::Write as _};

/// The workspace's file.
pub const MCP_FILE: &str = ".mcp.json";

/// The user's file, in the folder of the configuration.
pub const MCP_USER_FILE: &str = "mcp.json";

/// Longest name of a server.
const LONGEST_NAME: usize = 64;

/// One server of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpEntry {
    pub name: String,
    /// How it is reached, or why that can't be told.
    pub launch: Result<McpLaunch, McpError>,
    /// Its file turns it off.
    pub disabled: bool,
}

/// How a server is reached, as it is written: variables aren't looked up yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum McpLaunch {
    /// A program that speaks on its standard input and output.
    Process { command: String, args: Vec<String>, env: BTreeMap<String, String> },
    /// Streamable HTTP.
    Http { url: String, headers: BTreeMap<String, String> },
}

/// The fields of a server, those of other clients left out.
#[derive(Deserialize)]
struct EntryFields {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
}

impl McpEntry {
    /// The servers of a file, in its order.
    ///
    /// # Errors
    /// When it is no JSON object with `mcpServers`.
    pub fn read(text: &str) -> Result<Vec<Self>, McpError> {
        let file: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| McpError::new(format!("is not a JSON object: {error}")))?;
        let Some(Value::Object(servers)) = file.get("mcpServers") else { return Err(McpError::new("has no object `mcpServers`")) };
        Ok(servers.iter().map(|(name, fields)| Self::of(name, fields)).collect())
    }

    fn of(name: &str, fields: &Value) -> Self {
        let fields = EntryFields::deserialize(fields).map_err(|error| McpError::new(error.to_string()));
        let disabled = fields.as_ref().is_ok_and(|fields| fields.disabled);
        let launch = match is_server_name(name) {
            true => fields.and_then(McpLaunch::of),
            false => Err(McpError::new("a server's name has 1 to 64 of A-Z a-z 0-9 _ - .")),
        };
        Self { name: name.to_owned(), launch, disabled }
    }

    /// What trusting it would do, one line each.
    pub fn meaning(&self) -> Vec<String> {
        let name = &self.name;
        let launch = match &self.launch {
            Ok(_) if self.disabled => return vec![format!("names the MCP server `{name}`, turned off")],
            Ok(launch) => launch,
            Err(why) => return vec![format!("names the MCP server `{name}`, which can't be used: {why}")],
        };
        let how = match launch {
            McpLaunch::Process { .. } => format!("starts `{}` as the MCP server `{name}`, when it is needed", launch.label()),
            McpLaunch::Http { .. } => format!("connects to {} as the MCP server `{name}`, when it is needed", launch.label()),
        };
        let (set, what) = match launch {
            McpLaunch::Process { env, .. } => (env, "the variable"),
            McpLaunch::Http { headers, .. } => (headers, "the header"),
        };
        let sets = set.iter().map(|(key, value)| format!("gives `{name}` {what} {key}{}", from(&variables_in(value))));
        let rest = launch.variables().into_iter().filter(|used| !set.values().any(|value| variables_in(value).contains(used)));
        let rest = rest.map(|used| format!("gives `{name}` your variable {used}"));
        [how].into_iter().chain(sets).chain(rest).collect()
    }
}

fn from(variables: &[String]) -> String {
    if variables.is_empty() { String::new() } else { format!(", made of your variable {}", variables.join(", ")) }
}

impl McpLaunch {
    fn of(fields: EntryFields) -> Result<Self, McpError> {
        let EntryFields { kind, command, args, env, url, headers, .. } = fields;
        match (kind.as_deref(), command, url) {
            (Some("sse"), ..) => {
                Err(McpError::new("`sse` is the transport of 2024, which dagdeck doesn't speak: give the address for `http`"))
            }
            (None | Some("stdio"), Some(command), None) if !command.trim().is_empty() => Ok(Self::Process { command, args, env }),
            (None | Some("http" | "streamable-http" | "streamableHttp"), None, Some(url)) => Ok(Self::Http { url, headers }),
            (Some(other), ..) if !["stdio", "http", "streamable-http", "streamableHttp"].contains(&other) => {
                Err(McpError::new(format!("the type `{}` is not known", other.escape_debug())))
            }
            _ => Err(McpError::new("it needs either `command` or `url`")),
        }
    }

    /// The command line, or the address.
    pub fn label(&self) -> String {
        match self {
            Self::Process { command, args, .. } => args.iter().fold(command.clone(), |mut line, arg| {
                let is_plain = !arg.is_empty() && !arg.contains(|c: char| c.is_whitespace() || "'\"".contains(c));
                let _ = if is_plain { write!(line, " {arg}") } else { write!(line, " {arg:?}") };
                line
            }),
            Self::Http { url, .. } => url.clone(),
        }
    }

    /// The same with the user's variables put in.
    ///
    /// # Errors
    /// The variable that isn't set.
    pub fn filled(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, McpError> {
        let fill = |text: &String| fill(text, env);
        let pair = |(key, value): (&String, &String)| -> Result<_, McpError> { Ok((key.clone(), fill(value)?)) };
        let fill_all = |map: &BTreeMap<String, String>| map.iter().map(pair).collect::<Result<BTreeMap<_, _>, McpError>>();
        Ok(match self {
            Self::Process { command, args, env } => {
                Self::Process { command: fill(command)?, args: args.iter().map(fill).collect::<Result<_, _>>()?, env: fill_all(env)? }
            }
            Self::Http { url, headers } => Self::Http { url: fill(url)?, headers: fill_all(headers)? },
        })
    }

    /// The address, if it has one.
    pub(super) fn url(&self) -> Option<&str> {
        match self {
            Self::Http { url, .. } => Some(url),
            Self::Process { .. } => None,
        }
    }

    fn variables(&self) -> Vec<String> {
        match self {
            Self::Process { command, args, env } => {
                [command].into_iter().chain(args).chain(env.values()).flat_map(|text| variables_in(text)).collect()
            }
            Self::Http { url, headers } => [url].into_iter().chain(headers.values()).flat_map(|text| variables_in(text)).collect(),
        }
    }
}

/// Whether a server may have this name: the names of its tools begin with it, and patterns name it.
pub(super) fn is_server_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

/// The parts of a text: as it is, or the inside of `${…}`.
fn pieces(text: &str) -> Vec<Result<&str, &str>> {
    let (mut rest, mut found) = (text, Vec::new());
    while let Some((before, inside, after)) = rest.split_once("${").and_then(|(before, tail)| {
        let (inside, after) = tail.split_once('}')?;
        Some((before, inside, after))
    }) {
        found.extend([Ok(before), Err(inside)]);
        rest = after;
    }
    found.push(Ok(rest));
    found
}

fn variables_in(text: &str) -> Vec<String> {
    let name = |inside: &str| inside.split(":-").next().unwrap_or_default().to_owned();
    pieces(text).into_iter().filter_map(|piece| piece.err().map(name)).collect()
}

/// `${NAME}` and `${NAME:-what else}` from the environment.
fn fill(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, McpError> {
    let value = |inside: &str| {
        let (name, other) = inside.split_once(":-").map_or((inside, None), |(name, other)| (name, Some(other)));
        env(name)
            .or_else(|| other.map(str::to_owned))
            .ok_or_else(|| McpError::new(format!("it needs the variable `{name}`, which isn't set")))
    };
    pieces(text).into_iter().map(|piece| piece.map(str::to_owned).or_else(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(servers: &str) -> Vec<McpEntry> {
        McpEntry::read(&format!(r#"{{"mcpServers": {servers}, "other": 1}}"#)).unwrap()
    }

    #[test]
    fn servers_are_read_in_the_form_of_other_clients() {
        let servers = read(
            r#"{"fs": {"command": "npx", "args": ["-y", "a b"], "env": {"A": "1"}, "alwaysAllow": []},
                "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
                "old": {"type": "sse", "url": "https://example.com/sse"}, "odd": {"command": 5}, "off": {"command": "x", "disabled": true},
                "a:b": {"command": "x"}, "none": {}}"#,
        );
        let usable: Vec<&str> = servers.iter().filter(|entry| entry.launch.is_ok()).map(|entry| entry.name.as_str()).collect();
        assert_eq!(usable, ["fs", "web", "off"]);
        assert_eq!(servers[0].launch.as_ref().unwrap().label(), r#"npx -y "a b""#);
        assert!(servers[4].disabled);
        assert!(servers[2].launch.as_ref().unwrap_err().message.contains("transport of 2024"));
        assert!(McpEntry::read("[]").is_err() && McpEntry::read("{}").is_err());
    }

    #[test]
    fn what_a_server_gets_is_said_before_it_is_trusted() {
        let servers = read(r#"{"gh": {"command": "gh", "args": ["${WHERE:-here}"], "env": {"GH_TOKEN": "${MY_TOKEN}", "MODE": "ro"}}}"#);
        assert_eq!(
            servers[0].meaning(),
            [
                "starts `gh ${WHERE:-here}` as the MCP server `gh`, when it is needed",
                "gives `gh` the variable GH_TOKEN, made of your variable MY_TOKEN",
                "gives `gh` the variable MODE",
                "gives `gh` your variable WHERE",
            ]
        );
    }

    #[test]
    fn variables_are_put_in_and_a_missing_one_is_named() {
        let env = |name: &str| (name == "TOKEN").then(|| "secret".to_owned());
        assert_eq!(fill("Bearer ${TOKEN}, ${NO:-else}, $TOKEN, ${", &env), Ok("Bearer secret, else, $TOKEN, ${".to_owned()));
        assert!(fill("${NO}", &env).unwrap_err().message.contains("`NO`"));
    }
}
