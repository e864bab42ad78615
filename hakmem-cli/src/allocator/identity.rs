//! What the known allocators are called and how each is told from the others.

/// A known allocator.
#[derive(Debug, PartialEq, Eq)]
pub struct Identity {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub title: &'static str,
    /// A symbol that this allocator's library exports and no other's does.
    pub marker: &'static str,
    /// The probe's version entry and how its text begins, where the marker leaves a doubt.
    pub version: Option<(&'static str, &'static str)>,
}

pub const LIBC: &str = "libc";
pub const HAKMEM: &str = "hakmem";

/// Every known allocator but libc, which has no library of its own.
pub const KNOWN: &[Identity] = &[
    Identity {
        name: HAKMEM,
        aliases: &[],
        title: "hakmem",
        marker: "hak_tiny_alloc_superslab",
        version: None,
    },
    Identity {
        name: "mimalloc3",
        aliases: &["mimalloc", "mi3"],
        title: "mimalloc 3",
        marker: "mi_version",
        version: Some(("mi_version", "3")),
    },
    Identity {
        name: "mimalloc2",
        aliases: &["mi2"],
        title: "mimalloc 2",
        marker: "mi_version",
        version: Some(("mi_version", "2")),
    },
    Identity {
        name: "jemalloc",
        aliases: &["je"],
        title: "jemalloc",
        marker: "mallctl",
        version: Some(("mallctl", "5.")),
    },
    Identity {
        name: "snmalloc",
        aliases: &["sn"],
        title: "snmalloc",
        marker: "__malloc_end_pointer",
        version: None,
    },
    Identity {
        name: "rpmalloc",
        aliases: &["rp"],
        title: "rpmalloc",
        marker: "rpmalloc_initialize",
        version: None,
    },
    Identity {
        name: "tcmalloc",
        aliases: &["google-tcmalloc"],
        title: "Google tcmalloc",
        marker: "TCMallocInternalMalloc",
        version: None,
    },
    Identity {
        name: "gperftools",
        aliases: &["gperf"],
        title: "gperftools tcmalloc",
        marker: "tc_version",
        version: Some(("tc_version", "gperftools")),
    },
];

/// The known allocator of that name or alias.
pub fn find(name: &str) -> Option<&'static Identity> {
    KNOWN
        .iter()
        .find(|i| i.name == name || i.aliases.contains(&name))
}

pub fn is_libc(name: &str) -> bool {
    matches!(name, "libc" | "glibc" | "system")
}

/// All names that a user may type.
pub fn names() -> Vec<&'static str> {
    let known = KNOWN
        .iter()
        .flat_map(|i| std::iter::once(i.name).chain(i.aliases.iter().copied()));
    [LIBC, "glibc", "system"].into_iter().chain(known).collect()
}

/// The known allocator whose marker a file has; two with one marker are told apart at run time.
pub fn recognise(has: impl Fn(&str) -> bool) -> Option<&'static Identity> {
    KNOWN.iter().find(|i| has(i.marker))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut all = names();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn aliases_lead_to_the_allocator() {
        assert_eq!(find("mimalloc").unwrap().name, "mimalloc3");
        assert_eq!(find("gperf").unwrap().name, "gperftools");
        assert!(find("libc").is_none() && is_libc("glibc"));
    }

    #[test]
    fn recognised_by_the_marker() {
        assert_eq!(recognise(|s| s == "mallctl").unwrap().name, "jemalloc");
        assert_eq!(recognise(|s| s == "malloc"), None);
    }
}
