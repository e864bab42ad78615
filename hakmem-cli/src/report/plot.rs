//! Plots as SVG text.

use std::ops::Range;

use anyhow::{Result, anyhow};
use plotters::{
    coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter},
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use crate::{
    lab::{Metric, Row, Session, summary},
    stats::Word,
};

const INK: RGBColor = RGBColor(36, 41, 47);
const FAINT: RGBColor = RGBColor(208, 215, 222);
const GREY: RGBColor = RGBColor(110, 119, 129);
const GREEN: RGBColor = RGBColor(26, 127, 55);
const RED: RGBColor = RGBColor(207, 34, 46);
const BLUE: RGBColor = RGBColor(9, 105, 218);

const WIDTH: u32 = 640;
const LEFT: i32 = 150;
const RIGHT: i32 = 24;
const LANE: i32 = 30;
const TOP: i32 = 12;
const BOTTOM: i32 = 34;

fn word_colour(word: Option<Word>) -> RGBColor {
    match word {
        Some(Word::Better | Word::SlightlyBetter) => GREEN,
        Some(Word::Worse | Word::SlightlyWorse) => RED,
        Some(Word::NoDifference) | None => GREY,
    }
}

/// A logarithmic axis of ratios with ticks at round factors.
struct Ratios(Range<f64>);

impl Ranged for Ratios {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let (low, high) = (self.0.start.ln(), self.0.end.ln());
        let share = (value.clamp(self.0.start, self.0.end).ln() - low) / (high - low);
        limit.0 + (f64::from(limit.1 - limit.0) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        ticks(&self.0)
    }

    fn range(&self) -> Range<f64> {
        self.0.clone()
    }
}

impl ValueFormatter<f64> for Ratios {
    fn format(value: &f64) -> String {
        format!("{value}×")
    }
}

/// Few enough round factors to read: the finest ladder that gives at most eight.
fn ticks(range: &Range<f64>) -> Vec<f64> {
    const LADDERS: [&[f64]; 4] = [
        &[
            0.9, 0.92, 0.94, 0.96, 0.98, 1.0, 1.02, 1.04, 1.06, 1.08, 1.1,
        ],
        &[
            0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0,
        ],
        &[0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0],
        &[
            0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0,
        ],
    ];
    let inside = |ladder: &&[f64]| -> Vec<f64> {
        ladder
            .iter()
            .copied()
            .filter(|t| range.contains(t))
            .collect()
    };
    let covers = |ladder: &&&[f64]| {
        range.start >= ladder[0] * 0.8 && range.end <= ladder[ladder.len() - 1] * 1.25
    };
    let fitting = LADDERS.iter().filter(covers).map(inside);
    let few = fitting
        .filter(|ticks| ticks.len() <= 9)
        .find(|ticks| ticks.len() >= 2);
    few.unwrap_or_else(|| inside(&LADDERS[3]))
}

/// Room around all values, and always around 1.
fn around(values: impl Iterator<Item = f64>) -> Range<f64> {
    let usable = values.filter(|v| v.is_finite() && *v > 0.0);
    let (low, high) = usable.fold((0.97, 1.03), |(l, h), v| (f64::min(l, v), f64::max(h, v)));
    low / 1.04..high * 1.04
}

fn text_style(size: i32, colour: &'static RGBColor, horizontal: HPos) -> TextStyle<'static> {
    let pos = Pos::new(horizontal, VPos::Center);
    TextStyle::from(("sans-serif", size).into_font())
        .color(colour)
        .pos(pos)
}

fn wrap<E: std::error::Error + Send + Sync + 'static>(error: E) -> anyhow::Error {
    anyhow!("drawing: {error}")
}

/// One lane per contestant: all runs as dots, the interval as a bar, the ratio as a disc; the
/// noise as a band around 1. Everything relative to the baseline's median.
pub fn workload(session: &Session, name: &str) -> Result<String> {
    let rows: Vec<&Row> = session
        .contestants
        .iter()
        .filter_map(|c| session.row(name, &c.label, session.headline))
        .collect();
    let Some(base) = rows.iter().find(|row| row.allocator == session.baseline) else {
        return Ok(String::new());
    };
    let dots = |row: &Row| -> Vec<f64> {
        let counted = session.runs.iter().filter(|run| {
            run.workload == name && run.allocator == row.allocator && run.discarded.is_none()
        });
        counted
            .filter_map(|run| Some(session.headline.of(run)? / base.median))
            .collect()
    };
    let ends = rows
        .iter()
        .flat_map(|row| row.ratio)
        .flat_map(|r| [r.low, r.high]);
    let range = around(rows.iter().flat_map(|row| dots(row)).chain(ends));
    let height = TOP + BOTTOM + LANE * rows.len() as i32;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height as u32)).into_drawing_area();
        let lanes = 0..LANE * rows.len() as i32;
        let mut chart = ChartBuilder::on(&area)
            .margin_top(TOP)
            .margin_right(RIGHT)
            .margin_left(LEFT)
            .x_label_area_size(BOTTOM)
            .build_cartesian_2d(Ratios(range), lanes.end..lanes.start)
            .map_err(wrap)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .light_line_style(FAINT)
            .bold_line_style(FAINT)
            .axis_style(FAINT)
            .label_style(text_style(12, &GREY, HPos::Center))
            .draw()
            .map_err(wrap)?;
        if let Some(noise) = base.noise {
            let band = [(1.0 / (1.0 + noise), lanes.start), (1.0 + noise, lanes.end)];
            let band = Rectangle::new(band, BLUE.mix(0.09).filled());
            chart.draw_series([band]).map_err(wrap)?;
        }
        let one = PathElement::new([(1.0, lanes.start), (1.0, lanes.end)], BLUE.stroke_width(1));
        chart.draw_series([one]).map_err(wrap)?;
        for (i, row) in rows.iter().enumerate() {
            let middle = LANE * i as i32 + LANE / 2;
            let colour = word_colour(row.verdict.as_ref().map(|v| v.word));
            let label = text_style(13, &INK, HPos::Right);
            let at = (LEFT - 10, TOP + middle);
            area.draw(&Text::new(shorten(&row.allocator, 22), at, label))
                .map_err(wrap)?;
            // Spread by run, so that equal values stay apart.
            let spread = |k: usize| middle + (k * 5 % 13) as i32 - 6;
            let points = dots(row);
            let dots = points.iter().enumerate();
            chart
                .draw_series(
                    dots.map(|(k, v)| Circle::new((*v, spread(k)), 2, GREY.mix(0.35).filled())),
                )
                .map_err(wrap)?;
            if let Some(r) = row.ratio {
                let bar =
                    PathElement::new([(r.low, middle), (r.high, middle)], colour.stroke_width(3));
                chart.draw_series([bar]).map_err(wrap)?;
            }
            let centre = row.ratio.map_or(1.0, |r| r.ratio);
            chart
                .draw_series([Circle::new((centre, middle), 5, colour.filled())])
                .map_err(wrap)?;
        }
        area.present().map_err(wrap)?;
    }
    Ok(svg)
}

/// Time against memory, both as geometric means over all workloads.
pub fn time_and_memory(session: &Session) -> Result<String> {
    let others = session
        .contestants
        .iter()
        .filter(|c| c.label != session.baseline);
    let mut points: Vec<(&str, f64, f64)> = others
        .filter_map(|c| {
            let (time, ..) = summary::overall(session, &c.label, session.headline)?;
            let (memory, ..) = summary::overall(session, &c.label, Metric::Rss)?;
            Some((c.label.as_str(), time, memory))
        })
        .collect();
    points.push((&session.baseline, 1.0, 1.0));
    let x = around(points.iter().map(|p| p.1).chain([0.9, 1.1]));
    let y = around(points.iter().map(|p| p.2).chain([0.9, 1.1]));
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, 420)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .margin_right(84)
            .x_label_area_size(46)
            .y_label_area_size(64)
            .build_cartesian_2d(Ratios(x), Ratios(y))
            .map_err(wrap)?;
        chart
            .configure_mesh()
            .light_line_style(FAINT)
            .bold_line_style(FAINT)
            .axis_style(FAINT)
            .label_style(("sans-serif", 12).into_font().color(&GREY))
            .axis_desc_style(("sans-serif", 13).into_font().color(&INK))
            .x_desc(format!(
                "{} against {} (left is faster)",
                session.headline, session.baseline
            ))
            .y_desc("peak RSS (below is smaller)")
            .draw()
            .map_err(wrap)?;
        let placed = label_places(&points, |p| chart.backend_coord(&(p.1, p.2)));
        for ((label, time, memory), at) in points.iter().zip(placed) {
            let colour = if *label == session.baseline {
                BLUE
            } else {
                INK
            };
            let disc = Circle::new((*time, *memory), 5, colour.filled());
            chart.draw_series([disc]).map_err(wrap)?;
            let style = text_style(
                13,
                if *label == session.baseline {
                    &BLUE
                } else {
                    &INK
                },
                HPos::Left,
            );
            area.draw(&Text::new(shorten(label, 18), at, style))
                .map_err(wrap)?;
        }
        area.present().map_err(wrap)?;
    }
    Ok(svg)
}

/// Right of each point, moved down until no label lies on another.
fn label_places<P>(points: &[P], place: impl Fn(&P) -> (i32, i32)) -> Vec<(i32, i32)> {
    let mut places: Vec<(usize, (i32, i32))> = points
        .iter()
        .map(place)
        .map(|(x, y)| (x + 9, y))
        .enumerate()
        .collect();
    places.sort_by_key(|(_, (_, y))| *y);
    for i in 1..places.len() {
        let (x, mut y) = places[i].1;
        for (_, (other_x, other_y)) in &places[..i] {
            if (x - other_x).abs() < 100 && (y - other_y).abs() < 15 {
                y = other_y + 15;
            }
        }
        places[i].1 = (x, y);
    }
    places.sort_by_key(|(index, _)| *index);
    places.into_iter().map(|(_, at)| at).collect()
}

fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{fixture, summary::summarise};

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            ticks(&(0.93..1.07)),
            [0.94, 0.96, 0.98, 1.0, 1.02, 1.04, 1.06]
        );
        assert_eq!(ticks(&(0.45..1.1)), [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);
        assert_eq!(ticks(&(0.2..40.0)), [0.3, 1.0, 3.0, 10.0, 30.0]);
    }

    #[test]
    fn labels_do_not_lie_on_each_other() {
        let places = label_places(&[(10, 10), (12, 12), (300, 11)], |p| *p);
        assert_eq!(places, [(19, 10), (21, 25), (309, 11)]);
        assert_eq!(shorten("hakmem", 10), "hakmem");
        assert_eq!(shorten("hakmem,X=1", 8), "hakmem,…");
    }

    #[test]
    fn plots_show_every_contestant() {
        let mut session = fixture::session(0.5);
        summarise(&mut session, &[Metric::Time, Metric::Rss]);
        for svg in [
            workload(&session, "w").unwrap(),
            time_and_memory(&session).unwrap(),
        ] {
            assert!(svg.starts_with("<svg") && svg.contains("fast") && svg.contains("libc"));
        }
        assert_eq!(workload(&session, "other").unwrap(), "");
    }
}
