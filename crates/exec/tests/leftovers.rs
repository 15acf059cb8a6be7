//! What owner and guards both left behind is ended at the next start, and nothing else is.

use std::fs;

use patchbay_exec::Exec;

use crate::{
    owner::Owner,
    support::{Doomed, Lab, Pid, QUICK, in_time, stubborn, until},
};

fn records(lab: &Lab) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(lab.path()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "run")).collect()
}

/// An owner killed together with its guards; the servers that live on.
async fn orphaned(lab: &Lab, scripts: &[String], names: &[String]) -> Vec<Pid> {
    let mut owner = Owner::start(lab, scripts).await;
    let pids = lab.pids(names).await;
    let guards: Vec<Doomed> = owner.servers.iter().map(|server| Doomed(server.parent())).collect();
    guards.iter().for_each(|guard| guard.0.signal(libc::SIGSTOP));
    owner.signal(libc::SIGKILL);
    owner.ended().await;
    guards.iter().for_each(|guard| guard.0.signal(libc::SIGKILL));
    until("the guards end", || guards.iter().all(|guard| !guard.0.alive()).then_some(())).await;
    pids
}

#[tokio::test]
async fn the_next_start_ends_the_trees_that_owner_and_guard_left_behind() {
    let lab = Lab::new();
    let (a, b) = (stubborn("a"), stubborn("b"));
    // The daemon is out of reach then, which is the stated limit; here it is not started.
    let alone =
        |(script, names): (String, Vec<String>)| (script.replace("(setsid", "(true"), names[..3].to_vec());
    let ((a, a_names), (b, b_names)) = (alone(a), alone(b));
    let pids = orphaned(&lab, &[a, b], &[a_names, b_names].concat()).await;
    assert!(pids.iter().all(|pid| pid.alive()));
    assert_eq!(
        (Exec::reap_leftovers(lab.path()).await.unwrap(), records(&lab).len()),
        (vec!["tree".to_owned(); 2], 0)
    );
    assert!(pids.iter().all(|pid| !pid.alive()));
    assert!(Exec::reap_leftovers(lab.path()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_group_is_ended_also_after_its_leader_has_gone() {
    let lab = Lab::new();
    let script =
        "sh -c 'trap \"\" TERM; echo $$ > child; exec sleep 1000' & echo $$ > leader; read end; kill -9 $$";
    let pids = orphaned(&lab, &[script.into()], &["child".into(), "leader".into()]).await;
    let [child, leader] = pids[..] else { panic!() };
    until("the leader ends with its input", || (!leader.alive()).then_some(())).await;
    assert!(child.alive());
    assert_eq!(Exec::reap_leftovers(lab.path()).await.unwrap(), ["tree"]);
    assert!(!child.alive());
}

#[tokio::test]
async fn servers_of_an_owner_that_lives_are_left_alone() {
    let lab = Lab::new();
    let owner = Owner::start(&lab, &["exec sleep 1000".into()]).await;
    assert_eq!(records(&lab).len(), 1);
    assert!(Exec::reap_leftovers(lab.path()).await.unwrap().is_empty());
    assert!(owner.servers[0].alive() && records(&lab).len() == 1);
    let server = owner.servers[0];
    drop(owner);
    until("it ends with its owner", || (!server.alive()).then_some(())).await;
}

#[tokio::test]
async fn a_process_that_got_a_recorded_number_later_is_left_alone() {
    let lab = Lab::new();
    let process = lab.spawn("exec sleep 1000").await;
    let (server, guard) = (
        Pid::now(process.pid().cast_signed()).unwrap(),
        Pid::now(process.pid().cast_signed()).unwrap().parent(),
    );
    let era = format!(
        "{} {}",
        fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim(),
        fs::read_link("/proc/self/ns/pid").unwrap().display()
    );
    let record = |era: &str| {
        format!(
            "patchbay server 1\nera {era}\nowner 4194000 1\nguard {} 5\nserver {} 5\nname x\n",
            guard.pid, server.pid
        )
    };
    lab.write("number.run", &record(&era));
    lab.write("boot.run", &record("another boot"));
    lab.write("broken.run", "patchbay server 1\nera");
    lab.write("other.txt", &record(&era));
    assert!(Exec::reap_leftovers(lab.path()).await.unwrap().is_empty());
    assert!(server.alive() && guard.alive());
    // A half-written record may still be completed by its writer; a file of another kind is none of ours.
    assert_eq!(records(&lab), [lab.path().join("broken.run")]);
    assert!(lab.path().join("other.txt").exists());
    in_time(process.stop(QUICK)).await;
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_named_and_keeps_no_other_from_being_used() {
    let lab = Lab::new();
    let script = "trap '' TERM HUP; echo $$ > up; exec sleep 1000";
    let pids = orphaned(&lab, &[script.into()], &["up".into()]).await;
    std::os::unix::fs::symlink("/etc/passwd", lab.path().join("0.run")).unwrap();
    lab.write("1.run", &"\u{fffd}".repeat(1 << 16));
    fs::create_dir(lab.path().join("2.run")).unwrap();
    let pipe = std::ffi::CString::new(lab.path().join("3.run").to_str().unwrap()).unwrap();
    #[expect(unsafe_code, reason = "system call")]
    // SAFETY: the path is NUL-terminated and outlives the call.
    let made = unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) };
    assert_eq!(made, 0);
    let error = Exec::reap_leftovers(lab.path()).await.unwrap_err().to_string();
    assert!(error.contains("0.run") || error.contains("2.run"), "{error}");
    assert!(pids.iter().all(|pid| !pid.alive()));
}

#[tokio::test]
async fn a_folder_that_is_not_there_has_no_leftovers() {
    let lab = Lab::new();
    assert!(Exec::reap_leftovers(&lab.path().join("none")).await.unwrap().is_empty());
    let file = lab.write("file", "x");
    let error = Exec::reap_leftovers(&file).await.unwrap_err().to_string();
    assert!(error.contains(file.to_str().unwrap()), "{error}");
}
