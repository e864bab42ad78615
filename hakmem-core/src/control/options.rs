//! The option table and the parser of the environment: pure, without allocation.
//!
//! `hakmem-preload` hands over one `NAME=VALUE` string of the environment after the other; what comes back is either
//! in the settings or a complaint to print. Nothing here is on a hot path.
#![forbid(unsafe_code)]

use super::Misuse;

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `0` or `1`.
    Switch,
    /// A file name, not empty.
    File,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// One row of the table; `docs/OPTIONS.md` and the texts of complaints come from it.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: &'static str,
    pub kind: Kind,
    pub default: &'static str,
    pub unit: &'static str,
    pub help: &'static str,
}

pub const PREFIX: &str = "HAKMEM_";
/// Names of the benchmark programs, which read them themselves.
const FOREIGN_PREFIX: &str = "HAKMEM_BENCH_";

const VERBOSE: usize = 0;
const PROOF: usize = 1;
const MISUSE: usize = 2;
const DEEPBIND: usize = 3;
const CACHE: usize = 4;

pub const TABLE: [Entry; 5] = [
    Entry {
        name: "HAKMEM_DEBUG_VERBOSE",
        kind: Kind::Switch,
        default: "0",
        unit: "",
        help: "print one line with version, build and options at start",
    },
    Entry {
        name: "HAKMEM_PROOF",
        kind: Kind::File,
        default: "",
        unit: "absolute file name",
        help: "at exit, each process appends a JSON line that says what hakmem served",
    },
    Entry {
        name: "HAKMEM_MISUSE",
        kind: Kind::Word(&["abort", "report", "ignore"]),
        default: "abort",
        unit: "",
        help: "what to do about an invalid or double free",
    },
    Entry {
        name: "HAKMEM_DEEPBIND",
        kind: Kind::Word(&["drop", "keep"]),
        default: "drop",
        unit: "",
        help: "drop RTLD_DEEPBIND in dlopen, so that plugins free with hakmem what hakmem handed out",
    },
    Entry {
        name: "HAKMEM_CACHE",
        kind: Kind::Word(&["on", "off"]),
        default: "on",
        unit: "",
        help: "off: threads cache no blocks; slower, but signal handlers may allocate as they like",
    },
];

/// The options of one process. Borrows the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings<'a> {
    pub verbose: bool,
    pub proof: Option<&'a [u8]>,
    pub misuse: Misuse,
    pub keep_deepbind: bool,
    pub cache: bool,
}

impl Settings<'_> {
    pub const DEFAULT: Settings<'static> = Settings {
        verbose: false,
        proof: None,
        misuse: Misuse::Abort,
        keep_deepbind: false,
        cache: true,
    };

    /// The value of each option as text, in the order of the table; the file name is left out because it need not be
    /// text.
    pub fn values(&self) -> [(&'static str, &'static str); TABLE.len()] {
        let misuse = match self.misuse {
            Misuse::Abort => "abort",
            Misuse::Report => "report",
            Misuse::Ignore => "ignore",
        };
        [
            ("debug_verbose", if self.verbose { "1" } else { "0" }),
            ("proof", if self.proof.is_some() { "on" } else { "off" }),
            ("misuse", misuse),
            ("deepbind", if self.keep_deepbind { "keep" } else { "drop" }),
            ("cache", if self.cache { "on" } else { "off" }),
        ]
    }
}

/// Something in the environment that can't be obeyed.
#[derive(Debug, PartialEq, Eq)]
pub enum Complaint<'a> {
    UnknownName {
        name: &'a [u8],
        nearest: &'static str,
    },
    BadValue {
        entry: &'static Entry,
        value: &'a [u8],
    },
}

/// Takes one `NAME=VALUE` string into account. Strings that aren't about us are no error.
pub fn apply<'a>(settings: &mut Settings<'a>, variable: &'a [u8]) -> Result<(), Complaint<'a>> {
    if !variable.starts_with(PREFIX.as_bytes()) || variable.starts_with(FOREIGN_PREFIX.as_bytes()) {
        return Ok(());
    }
    let cut = variable
        .iter()
        .position(|&b| b == b'=')
        .unwrap_or(variable.len());
    let name = &variable[..cut];
    let value = variable.get(cut + 1..).unwrap_or_default();
    let Some(index) = TABLE.iter().position(|entry| entry.name.as_bytes() == name) else {
        return Err(Complaint::UnknownName {
            name,
            nearest: nearest(name),
        });
    };
    let entry = &TABLE[index];
    let bad = Err(Complaint::BadValue { entry, value });
    match entry.kind {
        // An empty file name is how a shell script turns the option off.
        Kind::File => settings.proof = (!value.is_empty()).then_some(value),
        Kind::Switch => match value {
            b"0" => settings.verbose = false,
            b"1" => settings.verbose = true,
            _ => return bad,
        },
        Kind::Word(words) => {
            let Some(word) = words.iter().position(|word| word.as_bytes() == value) else {
                return bad;
            };
            match index {
                MISUSE => {
                    settings.misuse = [Misuse::Abort, Misuse::Report, Misuse::Ignore][word];
                }
                CACHE => settings.cache = word == 0,
                _ => settings.keep_deepbind = word == 1,
            }
        }
    }
    Ok(())
}

const _: () = {
    assert!(matches!(TABLE[VERBOSE].kind, Kind::Switch));
    assert!(matches!(TABLE[PROOF].kind, Kind::File));
    assert!(matches!(TABLE[MISUSE].kind, Kind::Word(_)));
    assert!(matches!(TABLE[DEEPBIND].kind, Kind::Word(_)));
    assert!(matches!(TABLE[CACHE].kind, Kind::Word(_)));
};

/// The valid name with the smallest edit distance to `name`.
pub fn nearest(name: &[u8]) -> &'static str {
    let mut best = (usize::MAX, "");
    for entry in &TABLE {
        let distance = edit_distance(name, entry.name.as_bytes());
        if distance < best.0 {
            best = (distance, entry.name);
        }
    }
    best.1
}

/// Longest name that is compared; a longer one is compared by its first bytes.
const MAX_NAME: usize = 48;

/// The fewest insertions and deletions of a byte that turn `a` into `b`. A replacement counts as two, or a forgotten
/// word would look worse than a short name with other letters. Case does not count.
fn edit_distance(a: &[u8], b: &[u8]) -> usize {
    let a = &a[..a.len().min(MAX_NAME)];
    let b = &b[..b.len().min(MAX_NAME)];
    // row[j] is the distance of the part of `a` seen so far to the first j bytes of `b`.
    let mut row = [0usize; MAX_NAME + 1];
    for (j, cell) in row.iter_mut().enumerate() {
        *cell = j;
    }
    for (i, &x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + if x.eq_ignore_ascii_case(&y) { 0 } else { 2 };
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<'a>(variables: &[&'a str]) -> Result<Settings<'a>, Complaint<'a>> {
        let mut settings = Settings::DEFAULT;
        for variable in variables {
            apply(&mut settings, variable.as_bytes())?;
        }
        Ok(settings)
    }

    #[test]
    fn defaults_agree_with_the_table() {
        let with_defaults = [
            "HAKMEM_DEBUG_VERBOSE=0",
            "HAKMEM_PROOF=",
            "HAKMEM_MISUSE=abort",
            "HAKMEM_DEEPBIND=drop",
            "HAKMEM_CACHE=on",
        ];
        for (entry, variable) in TABLE.iter().zip(with_defaults) {
            assert_eq!(variable.split_once('='), Some((entry.name, entry.default)));
        }
        assert_eq!(parse(&with_defaults), Ok(Settings::DEFAULT));
    }

    #[test]
    fn every_value_is_understood() {
        let set = parse(&[
            "PATH=/bin",
            "HAKMEM_DEBUG_VERBOSE=1",
            "HAKMEM_PROOF=/tmp/a=b",
            "HAKMEM_MISUSE=report",
            "HAKMEM_DEEPBIND=keep",
            "HAKMEM_CACHE=off",
        ])
        .unwrap();
        let proof: Option<&[u8]> = Some(b"/tmp/a=b");
        assert_eq!(
            set,
            Settings {
                verbose: true,
                proof,
                misuse: Misuse::Report,
                keep_deepbind: true,
                cache: false,
            }
        );
        assert_eq!(
            parse(&["HAKMEM_MISUSE=ignore"]).unwrap().misuse,
            Misuse::Ignore
        );
        assert_eq!(
            set.values(),
            [
                ("debug_verbose", "1"),
                ("proof", "on"),
                ("misuse", "report"),
                ("deepbind", "keep"),
                ("cache", "off"),
            ]
        );
    }

    #[test]
    fn bad_values_name_their_option_and_change_nothing() {
        for (variable, entry, value) in [
            ("HAKMEM_DEBUG_VERBOSE=yes", &TABLE[VERBOSE], "yes"),
            ("HAKMEM_DEBUG_VERBOSE", &TABLE[VERBOSE], ""),
            ("HAKMEM_MISUSE=Abort", &TABLE[MISUSE], "Abort"),
            ("HAKMEM_DEEPBIND=", &TABLE[DEEPBIND], ""),
        ] {
            let mut settings = Settings::DEFAULT;
            let complaint = apply(&mut settings, variable.as_bytes());
            assert_eq!(
                complaint,
                Err(Complaint::BadValue {
                    entry,
                    value: value.as_bytes()
                })
            );
            assert_eq!(settings, Settings::DEFAULT);
        }
    }

    #[test]
    fn unknown_names_get_the_nearest_valid_one() {
        for (variable, nearest) in [
            ("HAKMEM_VERBOSE=1", "HAKMEM_DEBUG_VERBOSE"),
            ("HAKMEM_PROFF=x", "HAKMEM_PROOF"),
            ("HAKMEM_MISSUSE=abort", "HAKMEM_MISUSE"),
            ("HAKMEM_DEEP_BIND", "HAKMEM_DEEPBIND"),
            ("HAKMEM_debug_verbose=1", "HAKMEM_DEBUG_VERBOSE"),
        ] {
            let name = variable.split('=').next().unwrap().as_bytes();
            assert_eq!(
                parse(&[variable]),
                Err(Complaint::UnknownName { name, nearest })
            );
        }
    }

    #[test]
    fn names_of_others_are_not_ours() {
        assert_eq!(
            parse(&[
                "HAKMEM_BENCH_MIN_SIZE=16",
                "HAKMEMX=1",
                "hakmem_proof=x",
                "",
                "HAKMEM"
            ]),
            Ok(Settings::DEFAULT)
        );
    }

    #[test]
    fn distances() {
        for (a, b, distance) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 5),
            ("flaw", "lawn", 2),
        ] {
            assert_eq!(
                edit_distance(a.as_bytes(), b.as_bytes()),
                distance,
                "{a} {b}"
            );
        }
        assert_eq!(edit_distance(&[b'x'; 5000], &[b'x'; MAX_NAME]), 0);
    }
}
