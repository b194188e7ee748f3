//! Choosing the next token by its logit.

use llguidance::toktrie::SimpleVob;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore, SeedableRng},
};

/// Chooses tokens: the likeliest at temperature 0, else at random by a seed.
pub(super) struct Sampler {
    temperature: f64,
    random: ChaCha8Rng,
    candidates: Vec<(u32, f64)>,
}

impl Sampler {
    pub(super) fn new(temperature: f64, seed: u64) -> Self {
        Self { temperature, random: ChaCha8Rng::seed_from_u64(seed), candidates: Vec::new() }
    }

    /// The next token among those that `allowed` names, or among all; of equals the lowest. `None` if nothing is
    /// allowed or a logit is no number.
    pub(super) fn choose(&mut self, logits: &[f32], allowed: Option<&SimpleVob>) -> Option<u32> {
        let candidates = &mut self.candidates;
        candidates.clear();
        let mut add =
            |id: u32| candidates.extend(logits.get(id as usize).map(|&logit| (id, f64::from(logit))));
        match allowed {
            Some(allowed) => allowed.iter_set_entries(|id| add(id as u32)),
            None => (0..logits.len() as u32).for_each(add),
        }
        let mut best = *candidates.first()?;
        for &(id, logit) in candidates.iter() {
            if !logit.is_finite() {
                return None;
            }
            if logit > best.1 {
                best = (id, logit);
            }
        }
        if self.temperature <= 0.0 {
            return Some(best.0);
        }
        let mut total = 0.0;
        for (_, weight) in candidates.iter_mut() {
            total += ((*weight - best.1) / self.temperature).exp();
            *weight = total;
        }
        // The upper 53 bits are a number in [0, 1).
        let at = (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 * total;
        let index = candidates.partition_point(|&(_, sum)| sum <= at);
        Some(candidates.get(index).map_or(best.0, |&(id, _)| id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greedy_takes_the_lowest_of_equals_and_keeps_to_what_is_allowed() {
        let mut sampler = Sampler::new(0.0, 0);
        let logits = [1.0, 3.0, 3.0, 2.0];
        assert_eq!(sampler.choose(&logits, None), Some(1));
        let mut allowed = SimpleVob::alloc(4);
        assert_eq!(sampler.choose(&logits, Some(&allowed)), None);
        allowed.allow_token(0);
        allowed.allow_token(3);
        assert_eq!(sampler.choose(&logits, Some(&allowed)), Some(3));
        assert_eq!(sampler.choose(&[f32::NAN, 1.0], None), None);
        assert_eq!(sampler.choose(&[1.0, f32::NAN], None), None);
    }

    #[test]
    fn samples_follow_the_distribution_and_the_seed() {
        let logits = [0.0, 2.0_f32.ln(), f32::MIN];
        let draw = |seed| {
            let mut sampler = Sampler::new(1.0, seed);
            (0..3000).map(|_| sampler.choose(&logits, None).unwrap()).collect::<Vec<_>>()
        };
        let drawn = draw(7);
        let second = drawn.iter().filter(|&&id| id == 1).count();
        assert!((1850..2150).contains(&second), "two of three: {second}");
        assert!(!drawn.contains(&2));
        assert_eq!(drawn, draw(7));
        assert_ne!(drawn, draw(8));
        let mut cold = Sampler::new(0.01, 1);
        assert!((0..100).all(|_| cold.choose(&logits, None) == Some(1)));
    }
}
