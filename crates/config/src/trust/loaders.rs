//! Environment variables that make a program load or run code other than its own.

/// Exact names, in capitals.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "BASHOPTS", "BASH_ENV", "BROWSER", "BUNDLE_GEMFILE", "BUN_OPTIONS", "CDPATH", "CLASSPATH", "COMSPEC",
    "CORECLR_PROFILER_PATH", "COR_PROFILER_PATH", "DOTNET_STARTUP_HOOKS", "EDITOR", "ELECTRON_RUN_AS_NODE",
    "ENV", "GCONV_PATH", "GEM_HOME", "GEM_PATH", "GIT_ASKPASS", "GIT_DIR", "GIT_EDITOR", "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_TEMPLATE_DIR",
    "GLIBC_TUNABLES", "GRADLE_OPTS", "GTK_MODULES", "HOME", "IFS", "JAVA_OPTS", "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS", "LESSCLOSE", "LESSOPEN", "LOCPATH", "LUA_CPATH", "LUA_INIT", "LUA_PATH",
    "MAVEN_OPTS", "NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE",
    "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES", "PAGER", "PATH", "PATHEXT", "PHPRC",
    "PHP_INI_SCAN_DIR", "PROMPT_COMMAND", "PS4", "PYTHONBREAKPOINT", "PYTHONEXECUTABLE", "PYTHONHOME",
    "PYTHONINSPECT", "PYTHONPATH", "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP",
    "PYTHONUSERBASE", "PYTHONWARNINGS", "QT_PLUGIN_PATH", "RUBYLIB", "RUBYOPT", "RUSTC_WRAPPER",
    "R_PROFILE", "R_PROFILE_USER", "SHELL", "SHELLOPTS", "SSH_ASKPASS", "USERPROFILE", "VISUAL",
    "XDG_CONFIG_HOME", "ZDOTDIR", "_JAVA_OPTIONS",
];

/// Beginnings of names, in capitals.
const PREFIXES: &[&str] =
    &["BASH_FUNC_", "DYLD_", "GIT_CONFIG", "GIT_SSH", "LD_", "NPM_CONFIG_", "PERL5", "PIP_", "UV_", "YARN_"];

/// Whether a variable of this name can make a program load or run foreign code.
///
/// Case does not count: Windows knows none, and npm reads its own in small letters.
#[must_use]
pub fn is_loader(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAMES.binary_search(&name.as_str()).is_ok() || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(NAMES.is_sorted());
    }

    #[test]
    fn loader_variables_are_known_and_others_are_not() {
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "LD_AUDIT",
            "DYLD_INSERT_LIBRARIES",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "RUBYOPT",
            "PERL5OPT",
            "PERL5LIB",
            "JAVA_TOOL_OPTIONS",
            "BASH_ENV",
            "ENV",
            "GIT_SSH_COMMAND",
            "PATH",
            "Path",
            "npm_config_registry",
            "_JAVA_OPTIONS",
            "BASH_FUNC_ls%%",
        ] {
            assert!(is_loader(name), "{name}");
        }
        for name in [
            "API_TOKEN",
            "LOG_LEVEL",
            "PATHS",
            "MY_PATH",
            "ENVIRONMENT",
            "LDAP_URL",
            "PYTHONUNBUFFERED",
            "GIT_AUTHOR_NAME",
            "",
        ] {
            assert!(!is_loader(name), "{name}");
        }
    }
}
