use super::*;
use crate::{lab::fixture::session, stats::Word};

#[test]
fn a_clear_win_is_a_win_and_equal_figures_are_not() {
    let mut s = session(0.5);
    summarise(&mut s, &[Metric::Time, Metric::Rss]);
    let time = s.row("w", "fast", Metric::Time).unwrap();
    assert_eq!(time.verdict.as_ref().unwrap().word, Word::Better);
    assert!((time.ratio.unwrap().ratio - 0.5).abs() < 0.01);
    assert!(time.noise.unwrap() < 0.02);
    assert_eq!(time.runs, 10);
    let rss = s.row("w", "fast", Metric::Rss).unwrap();
    assert_eq!(rss.verdict.as_ref().unwrap().word, Word::NoDifference);
    let base = s.row("w", "libc", Metric::Time).unwrap();
    assert_eq!(
        (base.ratio, base.verdict.clone(), base.runs),
        (None, None, 10)
    );
    let (mean, least, most) = overall(&s, "fast", Metric::Time).unwrap();
    assert!(mean == least && least == most);
    assert_eq!(overall(&s, "libc", Metric::Time), None);
    assert!(s.warnings.is_empty(), "{:?}", s.warnings);
}

#[test]
fn discarded_runs_break_their_pair_only() {
    let mut s = session(0.5);
    for run in s
        .runs
        .iter_mut()
        .filter(|r| r.allocator == "fast" && r.round < 6)
    {
        run.discarded = Some("not proven".to_owned());
        run.ns_per_op = Some(0.001);
    }
    assert_eq!(s.pairs("w", "fast", Metric::Time).len(), 4);
    summarise(&mut s, &[Metric::Time]);
    let row = s.row("w", "fast", Metric::Time).unwrap();
    assert_eq!(
        (row.runs, row.ratio),
        (4, None),
        "four rounds are too few for a ratio"
    );
    assert!(row.median > 4.0, "discarded figures do not count");
}

#[test]
fn warns_of_load_and_noise() {
    let mut s = session(1.0);
    for run in &mut s.runs {
        run.others = if run.round == 0 { 0.9 } else { 0.0 };
        if run.again {
            run.ns_per_op = Some(10.0 + run.round as f64);
        }
    }
    summarise(&mut s, &[Metric::Time]);
    assert_eq!(
        s.warnings[0],
        "other programs kept the machine busy during 3 of 30 runs"
    );
    assert!(s.warnings[1].starts_with("noise above 5 %") && s.warnings[1].contains("w ("));
    let verdict = s
        .row("w", "fast", Metric::Time)
        .unwrap()
        .verdict
        .clone()
        .unwrap();
    assert_eq!(verdict.word, Word::NoDifference);
}
