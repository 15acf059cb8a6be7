//! `cargo bench -p patchbay-wire`: what a message costs on its way through.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
#![expect(clippy::expect_used, reason = "a benchmark may stop")]

use std::{hint::black_box, time::Instant};

use patchbay_wire::{
    CallParams, Line, Lines, Message, Token, decode, response, result_flags, spliced_request,
};
use serde_json::value::RawValue;

/// Prints the best of many short rounds, per turn: so that what else runs on the machine disturbs few of them.
fn bench(name: &str, bytes: usize, mut turn: impl FnMut()) {
    // Without `--bench` it is run as a test: once, to see that it runs.
    let measuring = std::env::args().any(|arg| arg == "--bench");
    let (rounds, turns) = if measuring { (400, (400_000 / (bytes + 200)).max(1)) } else { (1, 1) };
    let round = |turn: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..turns).for_each(|_| turn());
        start.elapsed().as_secs_f64() / turns as f64
    };
    let best = (0..rounds).map(|_| round(&mut turn)).fold(f64::MAX, f64::min);
    println!("{name:<44} {:>12.0} ns {:>8.2} GB/s", best * 1e9, bytes as f64 / best / 1e9);
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that the splitter asks for")]
fn seen(line: Line<'_>) {
    black_box(matches!(line, Line::Whole(_)));
}

fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).expect("valid JSON")
}

fn main() {
    let arguments =
        format!(r#"{{"path":"/home/me/project/src/main.rs","text":"{}","line":12}}"#, "x".repeat(60));
    let params =
        format!(r#"{{"name":"fs_read_file","arguments":{arguments},"_meta":{{"progressToken":17}}}}"#);
    let call = format!(r#"{{"jsonrpc":"2.0","id":4294967299,"method":"tools/call","params":{params}}}"#);
    bench(&format!("decode, request of {} B", call.len()), call.len(), || {
        black_box(decode(black_box(call.as_bytes())).expect("a message"));
    });
    let params = raw(params);
    bench("read the call's name", params.get().len(), || {
        black_box(CallParams::decode(black_box(&params)).expect("a call"));
    });
    bench("request with another name and token", params.get().len(), || {
        black_box(
            spliced_request(7, "tools/call", &params, Some("read_file"), Token::Set("9")).expect("a call"),
        );
    });
    for size in [300, 1 << 20] {
        let text = "line of text\\n with \\\"quotes\\\" and more words in it ".repeat(size / 52);
        let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"isError":false}}"#);
        let line = format!(r#"{{"result":{result},"jsonrpc":"2.0","id":4294967299}}"#);
        bench(&format!("decode, response of {} B", line.len()), line.len(), || {
            let Ok(Message::Response { outcome: Ok(result), .. }) = decode(black_box(line.as_bytes())) else {
                return;
            };
            black_box(result);
        });
        let (result, id) = (raw(result), raw("17".into()));
        bench("flags of its result", result.get().len(), || {
            drop(black_box(result_flags(black_box(&result))));
        });
        bench("write it as a response", result.get().len(), || {
            drop(black_box(response(&id, black_box(&result))));
        });
        let line = line + "\n";
        bench("lines, one chunk", line.len(), || {
            let mut lines = Lines::default();
            lines.push(black_box(line.as_bytes()), &mut seen);
        });
        bench("lines, chunks of 4 KiB", line.len(), || {
            let mut lines = Lines::default();
            for chunk in line.as_bytes().chunks(4096) {
                lines.push(black_box(chunk), &mut seen);
            }
        });
    }
}
