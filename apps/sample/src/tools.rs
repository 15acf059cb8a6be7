//! The three tools: their definitions and what they do. None of them reads or changes anything.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Number, Value, json};

/// The tools as `tools/list` gives them.
pub fn definitions() -> Value {
    let text = json!({"type": "string", "description": "Any text."});
    let number = json!({"type": "number"});
    let mut add = definition("add", "Add", "Adds two numbers.", &[("a", &number), ("b", &number)]);
    add["outputSchema"] = json!({"type": "object", "properties": {"sum": number}, "required": ["sum"]});
    json!([
        definition("echo", "Echo", "Gives the text back unchanged.", &[("text", &text)]),
        add,
        definition("time", "Time", "Tells the time of this computer, in UTC.", &[]),
    ])
}

/// A tool all of whose properties are required.
fn definition(name: &str, title: &str, description: &str, properties: &[(&str, &Value)]) -> Value {
    let required: Vec<_> = properties.iter().map(|(property, _)| property).collect();
    let properties: Map<_, _> =
        properties.iter().map(|&(name, schema)| (name.to_owned(), schema.clone())).collect();
    json!({
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required, "additionalProperties": false},
        "annotations": {
            "title": title,
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": name != "time",
            "openWorldHint": false,
        },
    })
}

/// Calls a tool: `None` where there is no such tool, an error in words where the arguments are wrong.
pub fn call(name: &str, arguments: &Map<String, Value>, now: SystemTime) -> Option<Result<Value, String>> {
    Some(match name {
        "echo" => known(arguments, &["text"]).and_then(|()| echo(arguments)),
        "add" => known(arguments, &["a", "b"]).and_then(|()| add(arguments)),
        "time" => known(arguments, &[]).map(|()| text(&utc(now))),
        _ => return None,
    })
}

fn known(arguments: &Map<String, Value>, names: &[&str]) -> Result<(), String> {
    match arguments.keys().find(|key| !names.contains(&key.as_str())) {
        Some(key) => Err(format!("there is no argument `{key}`")),
        None => Ok(()),
    }
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn echo(arguments: &Map<String, Value>) -> Result<Value, String> {
    let given = arguments.get("text").and_then(Value::as_str).ok_or("`text` must be a string")?;
    Ok(text(given))
}

fn add(arguments: &Map<String, Value>) -> Result<Value, String> {
    let number = |name: &str| match arguments.get(name) {
        Some(Value::Number(number)) => Ok(number.clone()),
        _ => Err(format!("`{name}` must be a number")),
    };
    let sum = sum(&number("a")?, &number("b")?).ok_or("the sum is too large")?;
    let mut result = text(&sum.to_string());
    result["structuredContent"] = json!({"sum": sum});
    Ok(result)
}

/// Exact for whole numbers as long as the sum fits, else in floating point.
fn sum(a: &Number, b: &Number) -> Option<Number> {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64())
        && let Some(sum) = a.checked_add(b)
    {
        return Some(sum.into());
    }
    Number::from_f64(a.as_f64()? + b.as_f64()?)
}

/// The moment as `YYYY-MM-DDTHH:MM:SSZ`; a clock before 1970 shows 1970.
fn utc(now: SystemTime) -> String {
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The Gregorian date of a day counted from 1970-01-01. Years begin in March here, so that a leap day comes last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // from 0000-03-01
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates_also_around_leap_days() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (58, (1970, 2, 28)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (20_453, (2025, 12, 31)),
            (20_454, (2026, 1, 1)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(days), expected, "day {days}");
        }
    }
}
