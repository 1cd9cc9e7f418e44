//! `current_time`: the time now, in UTC and in a zone.

use async_trait::async_trait;
use jiff::{Timestamp, tz::TimeZone};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{arguments, describe};
use crate::plan::{Risk, ToolInfo, ToolReach};
use crate::tools::{Assessment, Tool, ToolContext, ToolError, ToolOutput};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CurrentTimeArgs {
    /// Time zone such as `Europe/Berlin`. Default: this computer's.
    zone: Option<String>,
}

pub(super) struct CurrentTime(ToolInfo);

impl CurrentTime {
    pub(super) fn new() -> Self {
        Self(describe::<CurrentTimeArgs>(
            "current_time",
            "The date and time now. Gives {utc, local, zone, weekday, unix}.",
            Risk::Read,
            ToolReach::Public,
        ))
    }
}

#[async_trait]
impl Tool for CurrentTime {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    fn assess(&self, _args: &Value, _context: &ToolContext) -> Assessment {
        Assessment::read("reads the clock")
    }

    async fn call(&self, args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args: CurrentTimeArgs = arguments(args)?;
        Ok(ToolOutput { value: describe_time(Timestamp::now(), args.zone.as_deref())?, ..ToolOutput::default() })
    }
}

fn describe_time(now: Timestamp, zone: Option<&str>) -> Result<Value, ToolError> {
    let zone = match zone {
        None => TimeZone::system(),
        Some(name) => TimeZone::get(name).map_err(|_| {
            ToolError::refused(format!("there is no time zone `{}`", name.escape_debug()))
                .hint("use a name such as `Europe/Berlin` or `UTC`")
        })?,
    };
    let local = now.to_zoned(zone.clone());
    Ok(json!({
        "utc": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "local": local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        "zone": zone.iana_name().unwrap_or("UTC"),
        "weekday": local.strftime("%A").to_string(),
        "unix": now.as_second(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_given_in_utc_and_in_the_zone() {
        let now: Timestamp = "2026-01-31T23:30:00Z".parse().unwrap();
        let expected = json!({
            "utc": "2026-01-31T23:30:00Z", "local": "2026-02-01T00:30:00+01:00", "zone": "Europe/Berlin", "weekday": "Sunday", "unix": 1_769_902_200,
        });
        assert_eq!(describe_time(now, Some("Europe/Berlin")).unwrap(), expected);
        assert_eq!(describe_time(now, Some("UTC")).unwrap()["local"], "2026-01-31T23:30:00+00:00");
        assert!(describe_time(now, Some("Mars/Base")).unwrap_err().hint.is_some());
    }
}
