//! Moments as people type them.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

/// Reads `2h` or `3d` as that long ago, and dates and times as they are, here.
pub(crate) fn parse(text: &str) -> Result<Timestamp, String> {
    parse_at(text, &Zoned::now())
}

fn parse_at(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    if let Ok(local) = text.parse::<DateTime>()
        && let Ok(moment) = local.to_zoned(now.time_zone().clone())
    {
        return Ok(moment.timestamp());
    }
    let span = text.strip_suffix(" ago").unwrap_or(text).parse::<Span>();
    match span.and_then(|span| now.checked_sub(span.abs())) {
        Ok(moment) => Ok(moment.timestamp()),
        Err(_) => Err("expected how long ago, such as `2h` or `3d`, or a date such as \
                       `2026-01-31` or `2026-01-31T17:00`"
            .to_owned()),
    }
}

/// A moment in a list.
pub(crate) fn short(moment: Timestamp) -> String {
    local(moment).strftime("%m-%d %H:%M").to_string()
}

/// A moment to the second, with its zone.
pub(crate) fn long(moment: Timestamp) -> String {
    local(moment).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

fn local(moment: Timestamp) -> Zoned {
    moment.to_zoned(TimeZone::system())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_people_write_them() {
        let now: Zoned = "2026-03-10T12:00:00[Europe/Berlin]".parse().unwrap();
        for (text, expected) in [
            ("2h", "2026-03-10T09:00:00Z"),
            ("3d", "2026-03-07T11:00:00Z"),
            ("1 week ago", "2026-03-03T11:00:00Z"),
            ("90 min", "2026-03-10T09:30:00Z"),
            ("2026-03-01", "2026-02-28T23:00:00Z"),
            ("2026-03-01T17:00", "2026-03-01T16:00:00Z"),
            ("2026-03-01 17:00:05", "2026-03-01T16:00:05Z"),
            ("2026-03-01T17:00:00Z", "2026-03-01T17:00:00Z"),
        ] {
            assert_eq!(parse_at(text, &now).unwrap().to_string(), expected, "{text}");
        }
        for text in ["", "soon", "2026-13-01", "99999999999y"] {
            assert!(parse_at(text, &now).is_err(), "{text}");
        }
    }
}
