//! What happens when the library is loaded and when the process exits. The allocator works before the first and after
//! the second.

use crate::bound::{self, standing_aside};
use crate::{BUILD, VERSION, dlopen, process, proof};
use core::fmt::Write;
use hakmem_core::control;
use hakmem_core::control::options::{self, Complaint, Kind, Settings};
use hakmem_core::observe::format::{Fixed, Plain};
use hakmem_core::os;

#[ctor::ctor(unsafe, priority = early)]
fn start() {
    let mut settings = Settings::DEFAULT;
    if !process::is_secure() {
        for variable in process::environment() {
            if let Err(complaint) = options::apply(&mut settings, variable.to_bytes()) {
                complain(&complaint);
            }
        }
    }
    control::init(&control::Options {
        misuse: settings.misuse,
        cache: settings.cache,
    });
    if standing_aside() {
        if let Some(free) = bound::next_free() {
            control::misuse::set_foreign_free(free);
        }
    } else if !settings.keep_deepbind {
        dlopen::drop_deepbind();
    }
    if let Some(file) = settings.proof {
        proof::remember(file);
    }
    if settings.verbose {
        print(|line| {
            write!(
                line,
                "hakmem {VERSION} ({BUILD}) pid {} options:",
                os::process_id()
            )?;
            settings
                .values()
                .iter()
                .try_for_each(|(name, value)| write!(line, " {name}={value}"))
        });
    }
}

/// Runs after the program's atexit handlers and the destructors of its libraries that were loaded after us.
extern "C" fn finish() {
    proof::write();
}

#[used]
#[unsafe(link_section = ".fini_array")]
static FINISH: extern "C" fn() = finish;

fn complain(complaint: &Complaint<'_>) {
    print(|line| match *complaint {
        Complaint::UnknownName { name, nearest } => {
            write!(
                line,
                "hakmem: unknown option {:.64}, did you mean {nearest}?",
                Plain(name)
            )
        }
        Complaint::BadValue { entry, value } => {
            write!(
                line,
                "hakmem: {}={:.64} ignored, it must be ",
                entry.name,
                Plain(value)
            )?;
            match entry.kind {
                Kind::Switch => line.write_str("0 or 1"),
                Kind::File => line.write_str("a file name"),
                Kind::Word(words) => words.iter().enumerate().try_for_each(|(i, word)| {
                    line.write_str(if i == 0 { "" } else { " or " })?;
                    line.write_str(word)
                }),
            }
        }
    });
}

/// One line on standard error, in one write.
fn print(text: impl FnOnce(&mut Fixed<'_>) -> core::fmt::Result) {
    let mut space = [0; 512];
    let mut line = Fixed::new(&mut space);
    // A line that is too long is cut, which is all that could be done about it.
    let _ = text(&mut line);
    control::message(&[line.text(), "\n"]);
}
