//! `patchbay trust`: shows what a project's files would run, and records a person's answer.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use patchbay_api::{
    ApiError, DescribeTrust, ErrorCode, RevokeTrust, TransportKind, Trust as TrustContent, TrustRequest,
    TrustServer,
};

use super::on_road;
use crate::args::Trust;
use crate::context::{self, Context};
use crate::exit::Exit;
use crate::output::Output;
use crate::prompt;
use crate::road::{Need, Road};
use crate::table::Table;
use crate::terminal::Style;
use crate::text;

/// Asks about a folder, or takes trust in it back.
///
/// # Errors
/// The folder cannot be read, or nobody can be asked.
pub async fn run(context: &mut Context, trust: Trust) -> Result<Exit, ApiError> {
    let path = path(context, trust.dir.as_deref())?;
    on_road(context, Need::Settings, async |context, road| match trust {
        Trust { revoke: true, .. } => revoke(context, road, path).await,
        Trust { digest, .. } => give(context, road, path, digest).await,
    })
    .await
}

/// The folder: the one named (which may be gone), else the workspace.
fn path(context: &Context, dir: Option<&std::path::Path>) -> Result<String, ApiError> {
    let Some(dir) = dir else {
        return context.workspace()?.ok_or_else(|| {
            ApiError::new(ErrorCode::Invalid, "there is no project here")
                .hint("go to its folder, or name it: patchbay trust DIR")
        });
    };
    if dir.exists() {
        return context::folder(dir);
    }
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| PathBuf::from(dir));
    Ok(absolute.display().to_string())
}

async fn revoke(context: &mut Context, road: &Road, path: String) -> Result<Exit, ApiError> {
    road.call(RevokeTrust { path: path.clone() }).await?;
    if context.output.json {
        context.output.value(&())?;
    } else {
        context.output.line(&text::one_line(&format!("{path} is not trusted any more")));
    }
    Ok(Exit::Done)
}

async fn give(
    context: &mut Context,
    road: &Road,
    path: String,
    digest: Option<String>,
) -> Result<Exit, ApiError> {
    let answer = road.call(DescribeTrust { path: path.clone() }).await?;
    let Some(request) = answer.request.as_ref() else {
        if context.output.json {
            context.output.value(&answer)?;
        } else if answer.trusted {
            context.output.line(&text::one_line(&format!("{path} is trusted as it is now")));
        } else {
            context.output.line(&text::one_line(&format!("Nothing in {path} needs trust")));
        }
        return Ok(Exit::Done);
    };
    if let Some(digest) = digest {
        // The owner compares it with the files as they are at that moment.
        return trusted(context, road, path, digest).await;
    }
    if context.output.json {
        context.output.value(&answer)?;
        return Ok(Exit::Done);
    }
    show(&mut context.output, request);
    context.output.flush()?;
    if !std::io::stdin().is_terminal() {
        let message = "trust needs a person's answer, and there is no terminal to ask at";
        let hint = format!(
            "run it in a terminal, or agree to what is shown above: patchbay trust --digest {}",
            request.digest
        );
        return Err(ApiError::new(ErrorCode::Denied, message).hint(hint));
    }
    if prompt::confirm("Trust exactly this?").await? {
        return trusted(context, road, path, request.digest.clone()).await;
    }
    context.output.line("Not trusted; none of it runs");
    Ok(Exit::Denied)
}

async fn trusted(context: &mut Context, road: &Road, path: String, digest: String) -> Result<Exit, ApiError> {
    road.call(TrustContent { path: path.clone(), digest }).await?;
    if context.output.json {
        context.output.value(&())?;
    } else {
        context.output.line(&text::one_line(&format!("{path} is trusted as it is now; a change asks again")));
    }
    Ok(Exit::Done)
}

/// Everything that would run or loosen, each argument for itself.
fn show(output: &mut Output, request: &TrustRequest) {
    let changed = if request.changed {
        " Other content in this folder was trusted before; it has changed."
    } else {
        ""
    };
    output.paragraph(Style::Strong, 0, &format!("{} wants the following.{changed}", request.path));
    for file in &request.files {
        output.paragraph(Style::Faint, 2, &format!("from {file}"));
    }
    for one in &request.servers {
        output.line("");
        server(output, one);
    }
    list(output, "calls allowed without asking", &request.allow);
    list(output, "folders that sandboxed servers could write", &request.writable_paths);
    output.line("");
    output.paragraph(
        Style::Plain,
        0,
        "Trust means that these programs run with your rights, as far as the sandbox lets them.",
    );
}

fn server(output: &mut Output, server: &TrustServer) {
    let kind = crate::words::transport(Some(server.transport));
    output.paragraph(Style::Strong, 0, &format!("server {} ({kind})", server.name));
    let mut table = Table::indented(2);
    let mut row = |style, label: &str, value: &str| table.row([(Style::Plain, label), (style, value)]);
    let mut words = server.command.iter();
    if let Some(first) = words.next() {
        row(Style::Plain, if server.transport == TransportKind::Stdio { "runs" } else { "reaches" }, first);
    }
    words.for_each(|word| row(Style::Plain, "argument", word));
    server.cwd.iter().for_each(|cwd| row(Style::Plain, "in folder", cwd));
    server.env.iter().for_each(|(name, value)| row(Style::Plain, "variable", &format!("{name}={value}")));
    server.headers.iter().for_each(|(name, value)| row(Style::Plain, "header", &format!("{name}: {value}")));
    for leak in &server.leaks {
        row(Style::Warning, "hands over", &format!("your {} to {} (in {})", leak.name, leak.to, leak.field));
    }
    for loader in &server.loaders {
        row(Style::Bad, "beware", &format!("{loader} makes programs load foreign code"));
    }
    if server.unsandboxed {
        row(Style::Warning, "beware", "it asks to run outside the sandbox, which a project may not");
    }
    server.suspicious.iter().for_each(|found| row(Style::Bad, "beware", found));
    output.table(&table);
}

fn list(output: &mut Output, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    output.line("");
    output.paragraph(Style::Strong, 0, title);
    items.iter().for_each(|item| output.paragraph(Style::Plain, 2, item));
}
