//! The log of one server: what is cut, what is dropped, and what it costs to be flooded.

use super::*;

fn texts(log: &ServerLog, n: usize) -> Vec<String> {
    log.lines(n).into_iter().map(|line| line.text).collect()
}

#[test]
fn the_tail_shows_the_newest_lines_oldest_first_with_their_source() {
    let log = ServerLog::default();
    log.stderr(b"first\nsecond\n");
    log.noise(b"Starting\xff...");
    log.note("started");
    let tail = log.tail(3);
    assert!(tail[0].ends_with(" second"), "{tail:?}");
    assert!(tail[1].ends_with(" [stdout] Starting\u{fffd}..."), "{tail:?}");
    assert!(tail[2].ends_with(" [patchbay] started"), "{tail:?}");
    assert_eq!((tail.len(), log.noise_count()), (3, 1));
}

#[test]
fn a_stamp_is_the_time_of_day_in_utc() {
    let at = UNIX_EPOCH + Duration::from_millis(86_400_000 + 3_723_004);
    let line = LogLine { at, source: LogSource::Stderr, text: "x".into() };
    assert_eq!(line.to_string(), "01:02:03.004 x");
}

#[test]
fn a_line_that_is_not_ended_yet_is_shown_and_cut() {
    let log = ServerLog::default();
    log.stderr("ä".repeat(100_000).as_bytes());
    let text = texts(&log, 1).remove(0);
    assert!(text.len() < LINE_LIMIT + 64 && text.ends_with("more bytes cut)"), "{}", text.len());
    log.stderr_end();
    assert_eq!(texts(&log, 5), [text]);
}

#[tokio::test(start_paused = true)]
async fn a_flood_keeps_its_newest_lines_and_counts_the_others() {
    let log = ServerLog::default();
    for n in 0..100_000 {
        log.stderr(format!("line {n}\n").as_bytes());
    }
    let tail = texts(&log, 51);
    assert_eq!(tail[0], format!("{} lines left out: too many came at once", 100_000 - 1050));
    assert_eq!((tail[1].as_str(), tail[50].as_str()), ("line 99950", "line 99999"));
    assert_eq!(log.left_out(), 100_000 - 1050);

    tokio::time::advance(Duration::from_millis(250)).await;
    log.stderr(b"still too early for all that is kept\n");
    assert_eq!((log.left_out(), texts(&log, 2)[0].as_str()), (100_000 - 1049, "line 99999"));
    tokio::time::advance(Duration::from_millis(750)).await;
    log.stderr(b"after\n");
    let tail = texts(&log, 3);
    assert_eq!(tail, ["line 99999", "still too early for all that is kept", "after"]);
    assert!(texts(&log, usize::MAX).len() == 1000 + 1 + 50 + 1);
}

#[tokio::test(start_paused = true)]
async fn a_flood_in_big_pieces_leaves_the_same_as_one_in_small_ones() {
    let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let text = format!("{text}not ended");
    let logs = [1 << 20, 16_384, 777, 10].map(|size| {
        let log = ServerLog::default();
        // The budget is used up first.
        (0..1000).for_each(|_| log.note("busy"));
        text.as_bytes().chunks(size).for_each(|piece| log.stderr(piece));
        (texts(&log, 60), log.left_out())
    });
    assert_eq!(logs[0].1, 20_000 - 50);
    assert_eq!(logs[0].0.last().map(String::as_str), Some("not ended"));
    assert!(logs.iter().all(|log| *log == logs[0]), "{logs:#?}");
}

#[test]
fn the_log_stays_below_its_limit_and_drops_the_oldest() {
    let log = ServerLog::default();
    for n in 0..900 {
        log.stderr(format!("{n:04} {}\n", "x".repeat(3000)).as_bytes());
    }
    let state = log.lock();
    assert!(state.bytes <= LOG_LIMIT && state.bytes > LOG_LIMIT / 2);
    assert!(state.lines.back().is_some_and(|line| line.text.starts_with("0899")));
}

#[test]
fn a_secret_is_masked_even_where_the_line_is_cut() {
    let redact: Redact = Arc::new(|text| text.replace("TESTSECRET", "***"));
    let log = ServerLog::new(Some(redact));
    log.stderr(format!("{}TESTSECRET\n", "x".repeat(LINE_LIMIT - 5)).as_bytes());
    log.stderr(b"not ended TESTSECRET");
    let all = texts(&log, 10).join("\n");
    assert!(!all.contains("TEST"), "{all}");
    assert!(all.contains("***"));
}
