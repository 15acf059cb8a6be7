//! A server as a shell script: its tool `echo` answers at once, `hang` never does. It writes down what happens.

use std::fs;
use std::path::{Path, PathBuf};

use super::{alive, wait_for, write};

const SCRIPT: &str = r#"
echo "start $$" >> "$RECORD"
echo "hello from stderr" >&2
answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"script","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer '"result":{"tools":[{"name":"echo","description":"Says it.","inputSchema":{"type":"object"}},{"name":"hang","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}}]}' ;;
    *'"name":"hang"'*)
      echo "hang" >> "$RECORD" ;;
    *'"name":"fail"'*)
      answer '"result":{"content":[{"type":"text","text":"no luck"}],"isError":true}' ;;
    *'"method":"tools/call"'*)
      echo "call" >> "$RECORD"
      answer "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"said by $$ \u001b[31m$WORD\"}]}" ;;
    *'"id":'*)
      answer '"error":{"code":-32601,"message":"not known"}' ;;
  esac
done
sleep 0.2
echo "end $$" >> "$RECORD"
"#;

/// One such server.
pub struct Server {
    script: PathBuf,
    record: PathBuf,
}

impl Server {
    /// Writes the script into this folder.
    pub fn new(dir: &Path, name: &str) -> Self {
        let server =
            Self { script: dir.join(format!("{name}.sh")), record: dir.join(format!("{name}.record")) };
        write(&server.script, SCRIPT);
        server
    }

    /// Its entry in the settings, without a sandbox so that its pids are the system's.
    pub fn entry(&self, name: &str, more: &str) -> String {
        let (script, record) = (self.script.display(), self.record.display());
        format!(
            "[[mcp.servers]]\nname = \"{name}\"\ncommand = \"sh\"\nargs = [\"{script}\"]\nsandbox = false\n\
             env = {{ RECORD = \"{record}\", WORD = \"word\" }}\n{more}\n"
        )
    }

    pub fn script(&self) -> &Path {
        &self.script
    }

    pub fn record(&self) -> &Path {
        &self.record
    }

    /// What happened so far.
    pub fn events(&self) -> Vec<String> {
        fs::read_to_string(&self.record).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// The pids that it has had, in order.
    pub fn pids(&self) -> Vec<u32> {
        self.events().iter().filter_map(|event| event.strip_prefix("start ")?.parse().ok()).collect()
    }

    /// Waits until an event has happened this often.
    pub fn wait_for(&self, event: &str, count: usize) {
        wait_for(&format!("{count} × {event}"), || {
            (self.events().iter().filter(|one| one.starts_with(event)).count() >= count).then_some(())
        });
    }

    /// Whether each of its processes was let go by the end of its input and waited for, as an ordered stop does: it
    /// takes a moment to write down its end.
    pub fn stopped_in_order(&self) -> bool {
        let events = self.events();
        self.pids().iter().all(|pid| events.contains(&format!("end {pid}")) && !alive(*pid))
    }

    /// Waits until none of its processes is left.
    pub fn wait_until_gone(&self) {
        wait_for("the server's end", || self.pids().into_iter().all(|pid| !alive(pid)).then_some(()));
    }
}
