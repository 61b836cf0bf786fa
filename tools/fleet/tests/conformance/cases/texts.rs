//! Transcripts and diffs of attempts.

use std::path::Path;

use orange_core::mission::Event as MissionEvent;
use orange_fleet::host::{TextKind, TextOf};

use crate::TestedStore;
use crate::world::{World, step};

fn of(mission: &str, name: &str, attempt: u32, kind: TextKind) -> TextOf {
    TextOf { mission: mission.to_owned(), step: step(name), attempt, kind }
}

impl World {
    async fn keep(&self, of: &TextOf, text: &str) -> bool {
        self.host.keep_text(of.clone(), text.to_owned()).await.unwrap()
    }

    async fn text(&self, of: &TextOf) -> Option<String> {
        self.host.text(of.clone()).await.unwrap()
    }
}

pub async fn the_last_text_of_an_attempt_counts(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let id = world.start("one").await;
    let transcript = of(&id, "plan", 1, TextKind::Transcript);
    let diff = of(&id, "plan", 1, TextKind::Diff);
    assert_eq!(world.text(&diff).await, None);
    assert!(world.keep(&transcript, "It reads.").await);
    let long = "+ añb \u{0}\u{1b}[31m \u{202e} <script>\n".repeat(7_000);
    for text in ["first", long.as_str(), long.as_str()] {
        assert!(world.keep(&diff, text).await);
    }
    assert_eq!(world.text(&diff).await.as_deref(), Some(long.as_str()));
    assert_eq!(world.text(&transcript).await.as_deref(), Some("It reads."));
    let run = &world.stored(&id).await.runs[0];
    assert_eq!((run.transcript, run.diff), (Some(9), u32::try_from(long.len()).ok()));
    drop(world);
    // Another process, and one more text.
    let world = World::new((store.open)(folder)).await;
    assert_eq!(world.text(&diff).await.as_deref(), Some(long.as_str()));
    assert!(world.keep(&diff, "").await);
    assert_eq!(world.text(&diff).await.as_deref(), Some(""));
    assert_eq!(world.stored(&id).await.runs[0].diff, Some(0));
}

pub async fn an_attempt_that_is_not_there_keeps_nothing(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let id = world.start("one").await;
    for nothing in [("none", "plan", 1), (&id, "review", 1), (&id, "plan", 2)] {
        let of = of(nothing.0, nothing.1, nothing.2, TextKind::Diff);
        assert!(!world.keep(&of, "text").await, "{nothing:?}");
        assert_eq!(world.text(&of).await, None);
    }
}

pub async fn texts_go_with_their_mission(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let (gone, stays) = (world.start("gone").await, world.start("stays").await);
    let texts = [&gone, &stays].map(|id| of(id, "plan", 1, TextKind::Transcript));
    for text in &texts {
        assert!(world.keep(text, "It reads.").await);
    }
    world.mission("", &gone, MissionEvent::Cancel).await;
    assert_eq!(world.host.forget(i64::MAX).await.unwrap(), 1);
    assert_eq!(world.text(&texts[0]).await, None);
    assert!(!world.keep(&texts[0], "late").await);
    assert_eq!(world.text(&texts[1]).await.as_deref(), Some("It reads."));
}
