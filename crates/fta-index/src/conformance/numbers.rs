//! Data for the suites.

/// Deterministic pseudo-random numbers (SplitMix64), good enough for test data.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// `[n, dim]` vectors of norm 1.
    pub(super) fn unit_vectors(&mut self, n: usize, dim: usize) -> Vec<f32> {
        let mut rows = Vec::with_capacity(n * dim);
        for _ in 0..n {
            let row: Vec<f32> =
                (0..dim).map(|_| (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect();
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            // A row of nothing but zeros is as good as impossible, but must not make NaN.
            if norm > 1e-3 {
                rows.extend(row.iter().map(|x| x / norm));
            } else {
                rows.extend((0..dim).map(|i| if i == 0 { 1.0 } else { 0.0 }));
            }
        }
        rows
    }

    /// `[n, dim]` vectors of norm 1 around `n_clusters` centres that depend on nothing but `dim`.
    pub(super) fn clustered_vectors(&mut self, n: usize, dim: usize, n_clusters: usize) -> Vec<f32> {
        let centres = Numbers(77).unit_vectors(n_clusters, dim);
        let mut rows = self.unit_vectors(n, dim);
        for row in rows.chunks_exact_mut(dim) {
            let at = self.below(n_clusters as u64) as usize * dim;
            for (x, centre) in row.iter_mut().zip(&centres[at..at + dim]) {
                *x = 0.6 * *x + centre;
            }
            // Opposite unit vectors leave 0.4 of the centre, so the norm is never near zero.
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            for x in row {
                *x /= norm;
            }
        }
        rows
    }
}
