//! Times as the records spell them, in UTC.

use time::{Date, Month, OffsetDateTime, UtcOffset};

/// `2026-01-31T23:59:59.123Z`.
pub(crate) fn stamp(now: OffsetDateTime) -> String {
    let now = now.to_offset(UtcOffset::UTC);
    let (hour, minute, second, millisecond) = now.time().as_hms_milli();
    format!("{}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z", day(now.date()))
}

/// The day in UTC.
pub(crate) fn utc_day(now: OffsetDateTime) -> Date {
    now.to_offset(UtcOffset::UTC).date()
}

/// `2026-01-31`.
pub(crate) fn day(date: Date) -> String {
    format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
}

/// Reads what [`day`] writes, and nothing else.
pub(crate) fn parse_day(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let (year, month, of_month) = (parts.next()?, parts.next()?, parts.next()?);
    let month = Month::try_from(month.parse::<u8>().ok()?).ok()?;
    let date = Date::from_calendar_date(year.parse().ok()?, month, of_month.parse().ok()?).ok()?;
    (day(date) == text).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_in_utc_whatever_the_offset() {
        let moment = OffsetDateTime::from_unix_timestamp_nanos(1_767_225_599_123_456_789).unwrap();
        let here = moment.to_offset(UtcOffset::from_hms(5, 30, 0).unwrap());
        assert_eq!(stamp(moment), "2025-12-31T23:59:59.123Z");
        assert_eq!(stamp(here), stamp(moment));
        assert_eq!(utc_day(here), utc_day(moment));
    }

    #[test]
    fn only_days_as_they_are_written_are_read() {
        assert_eq!(parse_day("2026-02-28").map(day).as_deref(), Some("2026-02-28"));
        for bad in ["2026-02-30", "2026-2-3", "20260203", "2026-02-03-1", "+2026-02-03", ""] {
            assert_eq!(parse_day(bad), None, "{bad}");
        }
    }
}
