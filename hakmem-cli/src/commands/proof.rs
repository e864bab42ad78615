//! `hak proof`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, anyhow};
use serde_json::json;

use crate::{
    allocator::{Allocator, elf::Elf, identity},
    cli::Proof,
    exit,
    proof::{
        Session,
        bindings::Auditor,
        file::{self, Outlook},
        session::{Detail, check_identity},
        trace::{self, Traced},
        tree::{Assessed, Evidence, Status},
    },
};

pub fn execute(options: &Proof) -> Result<i32> {
    if let Some(path) = &options.file {
        return of_file(path, options);
    }
    let mut allocator = Allocator::parse(&options.allocator)?;
    if let Some(library) = &allocator.library {
        check_identity(&allocator, &Elf::read(library)?)
            .with_context(|| library.display().to_string())?;
    }
    let program = match options.pid {
        Some(pid) => PathBuf::from(format!("/proc/{pid}/exe")),
        None => options
            .command
            .first()
            .map(PathBuf::from)
            .unwrap_or_default(),
    };
    // An allocator linked into the program answers itself; a preloaded copy would never be asked.
    if let Ok((program, Outlook::Linked(found))) = file::inspect(&program)
        && Some(found) == allocator.identity
    {
        allocator.library = Some(program);
        allocator.linked = true;
    }
    match options.pid {
        Some(pid) => of_process(&allocator, pid, options.json),
        None => of_command(&allocator, options),
    }
}

fn of_command(allocator: &Allocator, options: &Proof) -> Result<i32> {
    let session = Session::new()?;
    let [program, args @ ..] = &options.command[..] else {
        return Err(anyhow!("no program"));
    };
    let mut command = Command::new(program);
    command
        .args(args)
        .envs(session.environment(allocator, Detail::StartAndEnd));
    let processes = if options.no_trace {
        untraced(command, &session)?
    } else {
        trace::run(command)?
    };
    let (probe, hakmem) = (session.probe_records()?, session.hakmem_records()?);
    let evidence = Evidence {
        allocator,
        probe: &probe,
        hakmem: &hakmem,
    };
    let assessed: Vec<Assessed> = processes.iter().map(|p| evidence.assess(p)).collect();
    let used = |a: &&Assessed| a.status != Status::NotUsed;
    let good = assessed.iter().filter(used).count();
    let main = assessed.first().filter(used).is_some();
    if options.json {
        let text = json!({ "allocator": allocator.label, "proven": good == assessed.len(),
            "processes": assessed });
        println!("{}", serde_json::to_string_pretty(&text)?);
    } else {
        for process in &assessed {
            eprintln!("{}", describe(process, allocator));
        }
        eprintln!(
            "hak proof: {} served {good} of {} processes",
            allocator.label,
            assessed.len()
        );
    }
    Ok(match (main, good == assessed.len()) {
        (true, true) => exit::OK,
        (true, false) => exit::PARTLY_PROVEN,
        (false, _) => exit::NOT_PROVEN,
    })
}

/// Without ptrace the probe alone tells what processes there were.
fn untraced(mut command: Command, session: &Session) -> Result<Vec<Traced>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run {program}"))?;
    let root = child.id() as i32;
    child.wait()?;
    let traced = |pid, parent, exe: &str| Traced {
        pid,
        parent,
        exe: exe.into(),
        secure: false,
        preload: None,
        executed: true,
        audit: None,
        exit: None,
    };
    let file = file::inspect(Path::new(&program)).map_or(PathBuf::from(program), |(file, _)| file);
    let mut list = vec![traced(root, 0, &file.to_string_lossy())];
    for record in session.probe_records()? {
        match list.iter_mut().find(|p| p.pid == record.pid) {
            Some(known) => known.exe = record.exe.into(),
            None => list.push(traced(record.pid, record.ppid, &record.exe)),
        }
    }
    Ok(list)
}

fn describe(process: &Assessed, allocator: &Allocator) -> String {
    let (mark, what) = match process.status {
        Status::Proven => ("✓", proven(process, allocator)),
        Status::Bound => (
            "✓",
            format!("bound in all its objects ({})", process.reasons.join("; ")),
        ),
        Status::NotUsed => ("✗", process.reasons.join("; ")),
    };
    format!("{mark} {} {}: {what}", process.pid, process.exe)
}

fn proven(process: &Assessed, allocator: &Allocator) -> String {
    match (allocator.library.is_some(), process.blocks) {
        (_, Some(blocks)) => {
            format!("all functions bound, libc's heap empty, {blocks} blocks or more served")
        }
        (true, None) => "all functions bound, libc's heap empty".to_owned(),
        (false, _) => "all functions are libc's, and its heap is in use".to_owned(),
    }
}

fn of_process(allocator: &Allocator, pid: i32, as_json: bool) -> Result<i32> {
    let exe = fs::read_link(format!("/proc/{pid}/exe"))
        .with_context(|| format!("no process {pid}, or not allowed to look at it"))?;
    let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let traced = Traced {
        pid,
        parent: 0,
        exe,
        secure: trace::is_secure(&read("auxv")),
        preload: trace::variable(&read("environ"), "LD_PRELOAD"),
        executed: true,
        audit: Some(Auditor::default().audit(pid)?),
        exit: None,
    };
    let evidence = Evidence {
        allocator,
        probe: &[],
        hakmem: &[],
    };
    let assessed = evidence.assess(&traced);
    if as_json {
        println!("{}", serde_json::to_string_pretty(&assessed)?);
    } else {
        println!("{}", describe(&assessed, allocator));
    }
    Ok(if assessed.status == Status::NotUsed {
        exit::NOT_PROVEN
    } else {
        exit::OK
    })
}

fn of_file(path: &Path, options: &Proof) -> Result<i32> {
    let claimed = identity::find(&options.allocator);
    let (program, outlook) = file::inspect(path)?;
    let (good, text) = match &outlook {
        Outlook::Linked(found) if claimed.is_none_or(|c| c.marker == found.marker) => {
            (true, format!("{} is linked into it", found.title))
        }
        Outlook::Linked(found) => (
            false,
            format!(
                "{} is linked into it, and a program's own malloc comes first",
                found.title
            ),
        ),
        Outlook::Preloadable { notes } if notes.is_empty() => (true, "can be preloaded".to_owned()),
        Outlook::Preloadable { notes } => (true, format!("can be preloaded; {}", notes.join("; "))),
        Outlook::Refused { reason } => (false, reason.clone()),
    };
    if options.json {
        println!(
            "{}",
            json!({ "file": program, "usable": good, "reason": text })
        );
    } else {
        println!(
            "{} {}: {text}",
            if good { "✓" } else { "✗" },
            program.display()
        );
    }
    Ok(if good { exit::OK } else { exit::NOT_PROVEN })
}
