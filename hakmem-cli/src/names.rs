//! "Unknown X 'foo'; did you mean 'bar'?"

use anyhow::{Error, anyhow};

/// An error that names the nearest valid name, or all of them if none is near.
pub fn unknown(what: &str, given: &str, valid: &[&str]) -> Error {
    match nearest(given, valid) {
        Some(near) => anyhow!("unknown {what} '{given}'; did you mean '{near}'?"),
        None => anyhow!("unknown {what} '{given}'; valid: {}", valid.join(", ")),
    }
}

/// The valid name with the smallest edit distance, if it is at most a third of the longer one.
pub fn nearest<'a>(given: &str, valid: &[&'a str]) -> Option<&'a str> {
    let given = given.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&given, &name.to_lowercase());
    let best = valid.iter().copied().min_by_key(|name| distance(name))?;
    (distance(best) * 3 <= best.len().max(given.len())).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest_or_all() {
        let valid = ["libc", "hakmem", "jemalloc"];
        let message = |given| unknown("allocator", given, &valid).to_string();
        assert_eq!(
            message("jemaloc"),
            "unknown allocator 'jemaloc'; did you mean 'jemalloc'?"
        );
        assert_eq!(
            message("HAKMEN"),
            "unknown allocator 'HAKMEN'; did you mean 'hakmem'?"
        );
        assert_eq!(
            message("qqq"),
            "unknown allocator 'qqq'; valid: libc, hakmem, jemalloc"
        );
        assert_eq!(nearest("x", &[]), None);
    }
}
