//! Reads requests from a connection, as far as a fixture needs it: no chunked bodies, heads of bounded size.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, Read},
};

use serde_json::Value;

const LONGEST_HEAD: u64 = 64 << 10;
const LONGEST_BODY: usize = 64 << 20;

/// A request.
#[derive(Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Header values by their names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    /// The next request; `None` at the end of the connection.
    pub fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut head = input.by_ref().take(LONGEST_HEAD);
        let mut first = String::new();
        if head.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let mut words = first.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            if head.read_line(&mut line)? == 0 {
                return Err(io::Error::other("the head of a request has no end"));
            }
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            headers.insert(name.to_lowercase(), value.trim().to_owned());
        }
        let length: usize = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length.min(LONGEST_BODY)];
        input.read_exact(&mut body)?;
        Ok(Some(Self { method, path, headers, body }))
    }

    /// The message that it carries; `null` where it carries none.
    pub fn message(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}
