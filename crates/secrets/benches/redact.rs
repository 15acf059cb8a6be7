//! `cargo bench -p patchbay-secrets`: what redaction costs a log line.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::{hint::black_box, time::Instant};

use patchbay_secrets::Redactor;

/// Prints the best of many short rounds, per turn: so that what else runs on the machine disturbs few of them.
fn bench(name: &str, bytes: usize, mut turn: impl FnMut()) {
    // Without `--bench` it is run as a test: once, to see that it runs.
    let measuring = std::env::args().any(|arg| arg == "--bench");
    let (rounds, turns) = if measuring { (300, (200_000 / (bytes + 200)).max(1)) } else { (1, 1) };
    let round = |turn: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..turns).for_each(|_| turn());
        start.elapsed().as_secs_f64() / turns as f64
    };
    let best = (0..rounds).map(|_| round(&mut turn)).fold(f64::MAX, f64::min);
    println!("{name:<44} {:>12.0} ns {:>8.3} GB/s", best * 1e9, bytes as f64 / best / 1e9);
}

fn main() {
    let line = "2026-01-31T23:59:59.123Z  INFO patchbay_engine: server github connected in 1.2 s, 37 tools, \
                command npx -y @modelcontextprotocol/server-github, workspace /home/me/projects/patchbay";
    let text = format!("{line}\n").repeat(400);
    for count in [0, 10, 100, 1000] {
        let redactor = Redactor::new();
        let values: Vec<String> =
            (0..count).map(|i| format!("secret value/{i:04}-{}", "x".repeat(i % 60))).collect();
        bench(&format!("learn {count} values"), 1 << 20, || {
            Redactor::new().learn_all(black_box(&values).iter().map(String::as_str));
        });
        redactor.learn_all(values.iter().map(String::as_str));
        bench(&format!("a line of {} B, {count} secrets", line.len()), line.len(), || {
            drop(black_box(redactor.redact(black_box(line))));
        });
        bench(&format!("a text of {} B, {count} secrets", text.len()), text.len(), || {
            drop(black_box(redactor.redact(black_box(&text))));
        });
    }
}
