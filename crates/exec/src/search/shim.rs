//! The `.cmd` shims that npm and its kin write on Windows: what they would start, read out of their text.

use std::path::{Path, PathBuf};

/// What a shim starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The interpreter's name, to be found on PATH.
    pub program: PathBuf,
    /// The interpreter that goes before it, if it exists: one in the shim's own folder.
    pub beside: Option<PathBuf>,
    /// The script.
    pub script: PathBuf,
}

/// The target of a shim in `folder`; `None` where the text has not the known shape: exactly one line that starts an
/// interpreter with a script below the shim's folder and hands all arguments on (`%*`).
pub(super) fn target(text: &str, folder: &Path) -> Option<Target> {
    let mut calls = text.lines().filter(|line| line.trim_end().ends_with("%*"));
    let (call, None) = (calls.next()?, calls.next()) else {
        return None;
    };
    let mut quoted = call.split('"').skip(1).step_by(2);
    let (program, script) = (quoted.next()?, quoted.next()?);
    if quoted.next().is_some() {
        return None;
    }
    let program = match program {
        "%_prog%" => text.lines().find_map(fallback_program)?,
        program => own_folder(program)?.trim_end_matches(".exe").to_owned(),
    };
    let plain = |name: &str| !name.is_empty() && !name.contains(['%', '\\', '/', ':', '"', '^', '&']);
    let script = own_folder(script).filter(|script| !script.contains(['%', ':', '^', '&']))?;
    let script = script.split('\\').fold(folder.to_owned(), |path, part| path.join(part));
    let beside = Some(folder.join(format!("{program}.exe")));
    plain(&program).then(|| Target { program: format!("{program}.exe").into(), beside, script })
}

/// The part below the shim's folder, in either spelling of it.
fn own_folder(path: &str) -> Option<&str> {
    path.strip_prefix("%dp0%\\").or_else(|| path.strip_prefix("%~dp0\\"))
}

/// `SET "_prog=node"`: the name where none stands beside the shim.
fn fallback_program(line: &str) -> Option<String> {
    let value = line.trim().strip_prefix("SET \"_prog=")?.strip_suffix('"')?;
    (!value.contains('%')).then(|| value.trim_end_matches(".exe").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NPX: &str = "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n\r\n\
        IF EXIST \"%dp0%\\node.exe\" (\r\n  SET \"_prog=%dp0%\\node.exe\"\r\n) ELSE (\r\n  SET \"_prog=node\"\r\n  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n\r\n\
        endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & \"%_prog%\"  \"%dp0%\\node_modules\\some pkg\\cli.js\" %*\r\n";

    #[test]
    fn a_shim_of_npm_is_replaced_by_its_interpreter_and_script() {
        let folder = Path::new("Program Files");
        let target = target(NPX, folder).unwrap();
        assert_eq!(target.program, Path::new("node.exe"));
        assert_eq!(target.beside, Some(folder.join("node.exe")));
        assert_eq!(target.script, folder.join("node_modules").join("some pkg").join("cli.js"));
    }

    #[test]
    fn a_batch_file_of_another_shape_is_left_alone() {
        let folder = Path::new("x");
        for text in [
            "",
            "@echo off\r\nnode cli.js %*\r\n",
            "\"%dp0%\\node.exe\" \"%OTHER%\\cli.js\" %*",
            "\"%dp0%\\node.exe\" \"%dp0%\\a.js\" %*\r\n\"%dp0%\\node.exe\" \"%dp0%\\b.js\" %*",
            "\"%dp0%\\node.exe\" \"%dp0%\\a.js\" \"--more\" %*",
        ] {
            assert_eq!(target(text, folder), None, "{text}");
        }
    }
}
