//! The picture on the pages is a frame of the view. `ORANGE_REWRITE=1 cargo test -p orange-dashboard` draws it again.

use std::fmt::Write as _;

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthChar;

use super::{Desk, NEXT, PANE};
use crate::model::effect::{Event, Question};
use crate::view::theme::Theme;

/// The size of a character.
const CELL: (u16, u16) = (8, 17);

#[test]
fn the_pages_show_a_frame() {
    let mut desk = Desk::new(112, 30);
    let id = "perm0000000000000000";
    desk.answer(Question::Next(id.to_owned()), NEXT);
    desk.event(Event::Pane(id.to_owned(), Box::new(serde_json::from_str(PANE).unwrap())));
    let drawn = svg(&desk);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dashboard.svg");
    if std::env::var_os("ORANGE_REWRITE").is_some() {
        std::fs::write(path, &drawn).unwrap();
    }
    let now = std::fs::read_to_string(path).unwrap_or_default();
    assert!(now == drawn, "docs/dashboard.svg is stale: ORANGE_REWRITE=1 draws it again");
}

/// The screen as a picture, with the colours of a dark terminal.
fn svg(desk: &Desk) -> String {
    let terminal = desk.terminal(Theme::new(true));
    let buffer = terminal.backend().buffer();
    let (width, height) = (buffer.area.width * CELL.0 + 16, buffer.area.height * CELL.1 + 16);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"13\">\n\
         <title>The dashboard of Orange</title>\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#1d1f21\"/>\n"
    );
    for y in 0..buffer.area.height {
        let mut x = 0;
        while x < buffer.area.width {
            let first = &buffer[(x, y)];
            let mut text = String::new();
            let begin = x;
            while x < buffer.area.width && looks_like(&buffer[(x, y)], first) {
                text.push_str(buffer[(x, y)].symbol());
                x += 1;
            }
            line(&mut svg, first, (begin, y, x - begin), &text);
        }
    }
    svg + "</svg>\n"
}

fn looks_like(one: &Cell, other: &Cell) -> bool {
    (one.fg, one.modifier) == (other.fg, other.modifier)
}

fn line(svg: &mut String, cell: &Cell, (x, y, cells): (u16, u16, u16), text: &str) {
    if text.trim().is_empty() && !cell.modifier.contains(Modifier::REVERSED) {
        return;
    }
    let (left, top) = (8 + x * CELL.0, 8 + y * CELL.1);
    let mut colour = colour(cell.fg);
    if cell.modifier.contains(Modifier::REVERSED) {
        let (width, height) = (cells * CELL.0, CELL.1);
        writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"/>"
        )
        .unwrap();
        colour = "#1d1f21";
    }
    let weight = if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let opacity = if cell.modifier.contains(Modifier::DIM) { " opacity=\"0.6\"" } else { "" };
    // Each letter has a place of its own, since fonts differ in width; a wide one takes two cells.
    let mut column = x;
    for word in text.split_inclusive(' ') {
        let (mut places, mut shown) = (String::new(), String::new());
        for letter in word.chars() {
            if letter != ' ' {
                write!(places, "{}{}", if places.is_empty() { "" } else { " " }, 8 + column * CELL.0)
                    .unwrap();
                shown.push(letter);
            }
            column += u16::try_from(letter.width().unwrap_or(0)).unwrap();
        }
        let shown = shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        if !shown.is_empty() {
            let base = top + 13;
            writeln!(
                svg,
                "<text x=\"{places}\" y=\"{base}\" fill=\"{colour}\"{weight}{opacity}>{shown}</text>"
            )
            .unwrap();
        }
    }
}

#[test]
fn every_letter_of_the_picture_has_its_column() {
    let drawn = svg(&Desk::new(112, 30));
    for text in drawn.lines().filter(|line| line.starts_with("<text")) {
        let places = text.split('"').nth(1).unwrap().split(' ').count();
        let shown = text.split('>').nth(1).unwrap().trim_end_matches("</text");
        let letters = shown.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
        assert_eq!(places, letters.chars().count(), "{text}");
    }
    assert!(drawn.contains("┐") && drawn.contains("漢"));
}

fn colour(colour: Color) -> &'static str {
    match () {
        () if colour == Color::Red => "#cc6666",
        () if colour == Color::Green => "#b5bd68",
        () if colour == Color::Yellow => "#f0c674",
        () if colour == Color::Cyan => "#8abeb7",
        () => "#d8dbd9",
    }
}
