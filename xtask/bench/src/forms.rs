//! The default workflow's transitions in every form that is compared.
//!
//! Every form answers whether the transition between two states fires in a review round. The peers have no gates, no hooks and no
//! reasons for a refusal. Nothing leads to `pending`, so it is not a target.

pub mod hand;
pub mod ours;
pub mod rust_fsm;
pub mod smlang;
pub mod statig;

/// A question: from, to (both as numbers, in source order) and the review round.
pub type ResolveQuestion = (u8, u8, u32);

/// Every question that the default workflow distinguishes, in an order that defeats branch prediction.
pub fn questions() -> Vec<ResolveQuestion> {
    let mut state = 1u64;
    let mut below = move |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % bound) as u32
    };
    (0..4096).map(|_| (below(8) as u8, 1 + below(7) as u8, below(5))).collect()
}
