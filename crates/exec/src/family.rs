//! Which processes belong to a server, told from outside: for when its guard was killed, and for what an earlier
//! owner left behind. Nothing is taken for a member by its number alone.

use std::{
    collections::HashSet,
    io,
    time::{Duration, Instant},
};

use crate::proc::{self, Identity, Stat};

/// How often is looked whether the killed are gone.
const ROUND: Duration = Duration::from_millis(5);

/// The three processes that every member can be traced to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Family {
    /// The process that started it.
    pub owner: Identity,
    /// Leader of the session.
    pub guard: Identity,
    /// Leader of the group. The start is 0 where the server had ended before it could be looked at.
    pub server: Identity,
}

impl Family {
    /// The family of a server that was just started.
    pub(crate) fn of(owner: u32, guard: u32, server: i32) -> Option<Self> {
        let (owner, guard) = (i32::try_from(owner).ok()?, i32::try_from(guard).ok()?);
        let server = Identity::of(server).unwrap_or(Identity { pid: server, start: 0 });
        Some(Self { owner: Identity::of(owner)?, guard: Identity::of(guard)?, server })
    }

    /// Members that run, the guard left out: the server, what is in its group *and* in the guard's session, and what
    /// descends from any of them or from the guard.
    ///
    /// Both numbers stay taken while a member has them, and two that were given anew would have to stand in the very
    /// same relation, so that group and session together are an identity even after both leaders have gone.
    fn members(&self, all: &[Stat]) -> Vec<Identity> {
        let now = |id: Identity| all.iter().find(|stat| stat.id.pid == id.pid);
        let recycled = |id: Identity| now(id).is_some_and(|stat| id.start > 0 && stat.id.start != id.start);
        let group_is_ours = !recycled(self.guard) && !recycled(self.server);
        let root = |stat: &Stat| {
            stat.id == self.server
                || stat.id == self.guard
                || group_is_ours
                    && stat.group == self.server.pid
                    && stat.session == self.guard.pid
                    && stat.id.start >= self.guard.start
        };
        let mut found: HashSet<i32> = all.iter().filter(|stat| root(stat)).map(|stat| stat.id.pid).collect();
        loop {
            let before = found.len();
            let children =
                all.iter().filter(|stat| found.contains(&stat.parent) && stat.id.start >= self.guard.start);
            let children: Vec<i32> = children.map(|stat| stat.id.pid).collect();
            found.extend(children);
            if found.len() == before {
                break;
            }
        }
        let running = all.iter().filter(|stat| found.contains(&stat.id.pid) && !stat.ended);
        running.map(|stat| stat.id).filter(|&id| id != self.guard && id.pid != own_pid()).collect()
    }

    /// Kills every member until none is left, the guard last, because orphans come to it. Blocking. `false` where
    /// some could not be ended within the limit. The second value counts who was killed.
    pub(crate) fn end(&self, limit: Duration) -> io::Result<(bool, usize)> {
        #[expect(clippy::disallowed_methods, reason = "real time of real processes, off the runtime")]
        let deadline = Instant::now() + limit;
        let mut killed = HashSet::new();
        loop {
            let members = self.members(&proc::list()?);
            if members.is_empty() && !self.guard.alive() {
                return Ok((true, killed.len()));
            }
            for &member in &members {
                proc::signal(member, libc::SIGKILL);
                killed.insert(member);
            }
            if members.is_empty() {
                proc::signal(self.guard, libc::SIGKILL);
            }
            #[expect(clippy::disallowed_methods, reason = "real time of real processes, off the runtime")]
            if Instant::now() >= deadline {
                return Ok((false, killed.len()));
            }
            std::thread::sleep(ROUND);
        }
    }
}

fn own_pid() -> i32 {
    i32::try_from(std::process::id()).unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILY: Family = Family {
        owner: Identity { pid: 10, start: 100 },
        guard: Identity { pid: 20, start: 200 },
        server: Identity { pid: 30, start: 200 },
    };

    fn stat(pid: i32, start: u64, parent: i32, group: i32, session: i32) -> Stat {
        Stat { id: Identity { pid, start }, parent, group, session, ended: false }
    }

    fn members(all: &[Stat]) -> Vec<i32> {
        FAMILY.members(all).into_iter().map(|id| id.pid).collect()
    }

    #[test]
    fn members_are_server_group_and_descendants() {
        let all = [
            stat(1, 1, 0, 1, 1),
            stat(20, 200, 10, 20, 20),
            stat(30, 200, 20, 30, 20),
            stat(31, 210, 30, 30, 20),
            stat(40, 220, 31, 40, 40),
            stat(50, 230, 20, 50, 50),
            stat(60, 240, 1, 60, 60),
        ];
        assert_eq!(members(&all), [30, 31, 40, 50]);
    }

    #[test]
    fn a_group_whose_leader_and_guard_have_gone_is_still_known() {
        assert_eq!(
            members(&[stat(1, 1, 0, 1, 1), stat(31, 210, 1, 30, 20), stat(32, 211, 31, 32, 20)]),
            [31, 32]
        );
    }

    #[test]
    fn numbers_that_were_given_again_are_nobody_of_ours() {
        let foreign_leader = [stat(1, 1, 0, 1, 1), stat(30, 900, 1, 30, 30), stat(31, 901, 30, 30, 30)];
        assert!(members(&foreign_leader).is_empty());
        let foreign_guard = [stat(20, 900, 1, 20, 20), stat(31, 901, 20, 30, 20)];
        assert!(members(&foreign_guard).is_empty());
        let older = [stat(31, 150, 1, 30, 20)];
        assert!(members(&older).is_empty());
    }
}
