//! The figures in the first line.

use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::text::fit;
use super::theme::Theme;
use crate::model::list::{ListFilter, count};
use crate::model::row::RowGroup;
use crate::model::{State, clock};

/// The first line: how many rows each group has, slots and tokens, as far as they have room.
pub fn line(state: &State, theme: Theme, width: u16) -> Line<'static> {
    let needs = count(state, RowGroup::NeedsYou);
    let needs_style = if needs > 0 { theme.warm().patch(theme.bold()) } else { theme.dim() };
    let mut spans = vec![Span::styled(" orange ", theme.bold())];
    if let Some(project) = state.project().filter(|_| state.catalog.projects.len() > 1) {
        spans.push(Span::raw(format!("{} ", fit(project, 20))));
    }
    spans.push(Span::raw("  "));
    spans.push(Span::styled(format!("NEEDS YOU {needs}"), needs_style));
    spans.push(Span::raw(format!("   running {}", count(state, RowGroup::Running))));
    spans.push(Span::raw(format!("   queued {}", count(state, RowGroup::Queued))));
    if state.slots() > 0 {
        spans.push(Span::raw(format!("   slots {}/{}", state.slots_used(), state.slots())));
    }
    if state.list.filter != ListFilter::Active {
        spans.push(Span::styled(format!("   [{}]", state.list.filter.name()), theme.warm()));
    }
    if !state.list.search.is_empty() {
        spans.push(Span::styled(format!("   /{}", fit(&state.list.search, 20)), theme.warm()));
    }
    if !state.list.marked.is_empty() {
        spans.push(Span::styled(format!("   {} marked", state.list.marked.len()), theme.warm()));
    }
    let tokens = format!("{} tok today ", clock::tokens(state.tokens()));
    let used: usize = spans.iter().map(|span| span.content.width()).sum();
    let room = usize::from(width).saturating_sub(used);
    if room > tokens.width() && state.tokens() > 0 {
        spans.push(Span::raw(" ".repeat(room - tokens.width())));
        spans.push(Span::styled(tokens, theme.dim()));
    }
    Line::from(spans)
}
