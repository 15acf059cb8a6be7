//! An owner for tests; see `host`. There is none where the tests do not run.

#[cfg(unix)]
mod host;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    #[cfg(unix)]
    host::main()?;
    Ok(())
}
