//! Vectors to search: a skewed mixture of clusters whose noise is of low dimension, as that of sentence embeddings.
//! This is hard for approximate indexes, since a cluster's members are nearly as far from each other as from others.

/// Values per vector, as all-MiniLM-L6-v2 gives them.
pub(crate) const DIM: usize = 384;
const N_CLUSTERS: usize = 5000;
const NOISE_DIM: usize = 24;

/// SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 40) as f32 / (1 << 24) as f32
    }

    /// Nearly normal: the sum of four uniform numbers, with variance 1.
    fn normal(&mut self) -> f32 {
        (self.unit() + self.unit() + self.unit() + self.unit() - 2.0) * 3.0_f32.sqrt()
    }

    fn normal_rows(&mut self, n: usize) -> Vec<f32> {
        let mut rows: Vec<f32> = std::iter::repeat_with(|| self.normal()).take(n * DIM).collect();
        rows.chunks_exact_mut(DIM).for_each(normalize);
        rows
    }
}

fn normalize(row: &mut [f32]) {
    let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    for x in row {
        *x /= norm;
    }
}

/// `n` unit vectors, the same for the same seed.
pub(crate) fn vectors(n: usize, seed: u64) -> Vec<f32> {
    let mut shared = Numbers(1);
    let (basis, centres) = (shared.normal_rows(NOISE_DIM), shared.normal_rows(N_CLUSTERS));
    let mut numbers = Numbers(seed);
    let mut rows = vec![0.0; n * DIM];
    for row in rows.chunks_exact_mut(DIM) {
        let skewed = numbers.unit();
        let cluster = ((skewed * skewed * N_CLUSTERS as f32) as usize).min(N_CLUSTERS - 1);
        row.copy_from_slice(&centres[cluster * DIM..(cluster + 1) * DIM]);
        for direction in basis.chunks_exact(DIM) {
            let length = 0.75 * numbers.normal() / (NOISE_DIM as f32).sqrt();
            for (x, y) in row.iter_mut().zip(direction) {
                *x += length * y;
            }
        }
        for x in row.iter_mut() {
            *x += 0.25 * numbers.normal() / (DIM as f32).sqrt();
        }
        normalize(row);
    }
    rows
}
