// Kernel SVMs of many columns on one Gram matrix: choice of working sets, SMO on each, update of all gradients.
// Everything is computed in a fixed order, so that the same problem gives the same bits on the same kind of device.

#define FULL 0xffffffffu
#define BINS 2048
#define HUGE_NUMBER 1e300

// Floats as unsigned numbers in the same order; 0 is below all of them.
__device__ __forceinline__ unsigned ordered(float x) {
    unsigned u = __float_as_uint(x);
    return (u & 0x80000000u) ? ~u : (u | 0x80000000u);
}
__device__ __forceinline__ float unordered(unsigned u) {
    return __uint_as_float((u & 0x80000000u) ? (u & 0x7fffffffu) : ~u);
}

__device__ __forceinline__ double warp_max(double x) {
    for (int s = 16; s; s >>= 1) x = fmax(x, __shfl_xor_sync(FULL, x, s));
    return x;
}

// Exclusive sum over the threads of a block of up to 1,024; `total` is the sum of all. Two barriers.
__device__ __forceinline__ int block_scan(int x, int *room, int &total) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sum = x;
    for (int s = 1; s < 32; s <<= 1) {
        int y = __shfl_up_sync(FULL, sum, s);
        if (lane >= s) sum += y;
    }
    __syncthreads();
    if (lane == 31) room[warp] = sum;
    __syncthreads();
    int before = 0;
    total = 0;
    for (int w = 0; w < (blockDim.x >> 5); w++) {
        if (w < warp) before += room[w];
        total += room[w];
    }
    return before + sum - x;
}

// The largest e that may grow and the largest -e that may shrink, in each column and part of the rows.
extern "C" __global__ void find_ends(const double *e, const double *beta, const double *lo, const double *hi, long long n,
                                     double *part) {
    long long j = blockIdx.y, base = j * n;
    double highest = -HUGE_NUMBER, against = -HUGE_NUMBER;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        double x = e[base + i], b = beta[base + i];
        if (b < hi[base + i]) highest = fmax(highest, x);
        if (b > lo[base + i]) against = fmax(against, -x);
    }
    __shared__ double room[2][32];
    highest = warp_max(highest);
    against = warp_max(against);
    if ((threadIdx.x & 31) == 0) {
        room[0][threadIdx.x >> 5] = highest;
        room[1][threadIdx.x >> 5] = against;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        bool there = threadIdx.x < (blockDim.x >> 5);
        highest = warp_max(there ? room[0][threadIdx.x] : -HUGE_NUMBER);
        against = warp_max(there ? room[1][threadIdx.x] : -HUGE_NUMBER);
        if (threadIdx.x == 0) {
            part[(j * gridDim.x + blockIdx.x) * 2] = highest;
            part[(j * gridDim.x + blockIdx.x) * 2 + 1] = against;
        }
    }
}

// report[3 j] = the largest e of column j that may grow, then the smallest that may shrink, then the number of steps.
extern "C" __global__ void join_ends(const double *part, int parts, int free_bias, const int *steps, double *report) {
    int j = blockIdx.x;
    double highest = -HUGE_NUMBER, against = -HUGE_NUMBER;
    for (int q = threadIdx.x; q < parts; q += 32) {
        highest = fmax(highest, part[(j * parts + q) * 2]);
        against = fmax(against, part[(j * parts + q) * 2 + 1]);
    }
    highest = warp_max(highest);
    against = warp_max(against);
    if (threadIdx.x == 0) {
        report[3 * j] = free_bias ? highest : fmax(highest, 0.0);
        report[3 * j + 1] = free_bias ? -against : fmin(-against, 0.0);
        report[3 * j + 2] = steps[j];
    }
}

// How much a row violates, from 0 to BINS - 1 on the scale between the ends of its column; -1 if it does not, or if it
// has been chosen in this round.
__device__ __forceinline__ int violation(int side, double x, double b, double low, double high, double highest,
                                         double lowest, double scale, bool chosen) {
    bool may = side == 0 ? b < high : b > low;
    double over = side == 0 ? x - lowest : highest - x;
    return may && over > 0.0 && !chosen ? min(BINS - 1, (int)(over * scale)) : -1;
}

// Choose working sets: for each of `active` columns up to `fresh` / 2 rows that should grow most, as many that should
// shrink most, then rows of the last set. One block of 1,024 threads per column; each warp reads its own stretch of rows.
// mark[j, i] is the number of the round in which row i was last chosen.
extern "C" __global__ void choose_sets(const int *active, const double *e, const double *beta, const double *lo,
                                       const double *hi, const double *report, long long n, int p, int fresh, int round,
                                       int *mark, int *sets, int *sizes) {
    __shared__ int counts[BINS];
    __shared__ int room[32], cut[2], sure_of[32], border_of[32];
    __shared__ int old[1024];
    int j = active[blockIdx.x], t = threadIdx.x, lane = t & 31, warp = t >> 5;
    long long base = j * n, stretch = (n / 1024 + 1) * 32, first = warp * stretch, last = min(first + stretch, n);
    double highest = report[3 * j], lowest = report[3 * j + 1], scale = (BINS - 1) / (highest - lowest);
    int *set = sets + (long long)j * p, size = sizes[j], taken = 0, total;
    unsigned before = (1u << lane) - 1;
    old[t] = t < size ? set[t] : -1;
    for (int side = 0; side < 2; side++) {
        int quota = side == 0 ? fresh / 2 : fresh - taken;
        for (int q = t; q < BINS; q += blockDim.x) counts[q] = 0;
        __syncthreads();
        for (long long i = base + t; i < base + n; i += blockDim.x) {
            int bin = violation(side, e[i], beta[i], lo[i], hi[i], highest, lowest, scale, mark[i] == round);
            if (bin >= 0) atomicAdd(&counts[bin], 1);
        }
        __syncthreads();
        // The bins from cut[0] + 1 on are taken whole, and cut[1] rows of bin cut[0].
        if (warp == 0) {
            int above = 0, found = -1, rest = 0;
            for (int top = BINS - 32; top >= 0 && found < 0; top -= 32) {
                int sum = counts[top + 31 - lane];
                for (int s = 1; s < 32; s <<= 1) {
                    int y = __shfl_up_sync(FULL, sum, s);
                    if (lane >= s) sum += y;
                }
                unsigned full = __ballot_sync(FULL, above + sum >= quota);
                if (full) {
                    int where = __ffs(full) - 1;
                    int with = __shfl_sync(FULL, sum, where), own = counts[top + 31 - where];
                    found = top + 31 - where;
                    rest = quota - (above + with - own);
                }
                above += __shfl_sync(FULL, sum, 31);
            }
            if (lane == 0) {
                cut[0] = found;
                cut[1] = found < 0 ? 0 : rest;
            }
        }
        __syncthreads();
        int sure = 0, border = 0;
        for (long long i = first + lane; i - lane < last; i += 32) {
            long long q = base + i;
            int bin = i < last ? violation(side, e[q], beta[q], lo[q], hi[q], highest, lowest, scale, mark[q] == round)
                               : -1;
            sure += __popc(__ballot_sync(FULL, bin > cut[0]));
            border += __popc(__ballot_sync(FULL, bin >= 0 && bin == cut[0]));
        }
        if (lane == 0) {
            sure_of[warp] = sure;
            border_of[warp] = border;
        }
        __syncthreads();
        int at = 0, edge = 0, n_sure = 0, n_border = 0;
        for (int w = 0; w < 32; w++) {
            if (w < warp) {
                at += sure_of[w];
                edge += border_of[w];
            }
            n_sure += sure_of[w];
            n_border += border_of[w];
        }
        for (long long i = first + lane; i - lane < last; i += 32) {
            long long q = base + i;
            int bin = i < last ? violation(side, e[q], beta[q], lo[q], hi[q], highest, lowest, scale, mark[q] == round)
                               : -1;
            unsigned in = __ballot_sync(FULL, bin > cut[0]), on = __ballot_sync(FULL, bin >= 0 && bin == cut[0]);
            int place = -1;
            if (in >> lane & 1) place = taken + at + __popc(in & before);
            if ((on >> lane & 1) && edge + __popc(on & before) < cut[1]) place = taken + n_sure + edge + __popc(on & before);
            if (place >= 0) {
                set[place] = (int)i;
                mark[q] = round;
            }
            at += __popc(in);
            edge += __popc(on);
        }
        taken += n_sure + min(n_border, cut[1]);
        __syncthreads();
    }
    bool kept = old[t] >= 0 && mark[base + old[t]] != round;
    int at = block_scan(kept, room, total);
    if (kept && taken + at < p) set[taken + at] = old[t];
    if (t == 0) sizes[j] = min(p, taken + total);
}

// small[c, a, b] = K[set[a], set[b]] for column active[c].
extern "C" __global__ void gather_sets(const int *active, const float *K, long long ld, int p,
                                       const int *sets, const int *sizes, float *small) {
    int c = blockIdx.y, j = active[c], a = blockIdx.x, size = sizes[j];
    if (a >= size) return;
    const int *set = sets + (long long)j * p;
    const float *row = K + (long long)set[a] * ld;
    float *out = small + ((long long)c * p + a) * p;
    for (int b = threadIdx.x; b < size; b += blockDim.x) out[b] = row[set[b]];
}

// SMO on the working set of each active column, one thread per row: maximise Σ tβ − ½ βᵀ(K + offset)β over lo ≤ β ≤ hi,
// and Σβ = 0 with a free bias; err is the gradient. With a free bias a pair is changed, chosen by the largest violation
// and the second-order gain (Fan, Chen & Lin, Working set selection using second order information, JMLR 2005);
// otherwise the one row of the largest gain. Ends when the violation falls below tol[j].
extern "C" __global__ void __launch_bounds__(1024, 1)
descend(const int *active, const float *small, int p, long long n, const int *sets, const int *sizes, const double *e,
        double *beta, const double *lo, const double *hi, int free_bias, float offset, const double *tol,
        int max_steps, int *steps, int *changed, double *change, int *n_changed) {
    // What a step writes lies in one of two places by turns: a warp may be a step ahead of another that still reads.
    __shared__ float errors_[2][1024], row_i_[2][1024], up_room_[2][1024], down_room_[2][1024], diagonal[1024];
    __shared__ unsigned best[2][2][32], gains[2][32];
    __shared__ int where[2][32], whose[2][32];
    __shared__ int scan_room[32];
    int c = blockIdx.x, j = active[c], t = threadIdx.x, lane = t & 31, warp = t >> 5, size = sizes[j];
    bool there = t < size;
    const float *K = small + (long long)c * p * p;
    long long place = (long long)j * n + (there ? sets[(long long)j * p + t] : 0);
    double low = there ? lo[place] : 0.0, high = there ? hi[place] : 0.0, start = there ? beta[place] : 0.0, b = start;
    float err = there ? (float)e[place] : 0.0f, stop = (float)tol[j];
    diagonal[t] = there ? fmaxf(K[(long long)t * p + t] + offset, 1e-12f) : 1.0f;
    int done = 0;
    while (done < max_steps) {
        int turn = done & 1;
        float *errors = errors_[turn], *row_i = row_i_[turn], *up_room = up_room_[turn], *down_room = down_room_[turn];
        up_room[t] = (float)(high - b);
        down_room[t] = (float)(b - low);
        errors[t] = err;
        bool up = there && b < high, down = there && b > low;
        if (free_bias) {
            unsigned grow = up ? ordered(err) : 0u, shrink = down ? ordered(-err) : 0u;
            unsigned most = __reduce_max_sync(FULL, grow), least = __reduce_max_sync(FULL, shrink);
            int who = __ffs(__ballot_sync(FULL, grow == most)) - 1;
            if (lane == 0) {
                best[turn][0][warp] = most;
                best[turn][1][warp] = least;
                where[turn][warp] = (warp << 5) + who;
            }
            __syncthreads();
            unsigned one = best[turn][0][lane], other = best[turn][1][lane];
            most = __reduce_max_sync(FULL, one);
            least = __reduce_max_sync(FULL, other);
            int i = where[turn][__ffs(__ballot_sync(FULL, one == most)) - 1];
            if (most == 0u || least == 0u || unordered(most) + unordered(least) <= stop) break;
            float k_i = there ? K[(long long)i * p + t] : 0.0f, e_i = errors[i], d_i = diagonal[i];
            row_i[t] = k_i;
            float apart = e_i - err;
            float bend = fmaxf(d_i + diagonal[t] - 2.0f * (k_i + offset), 1e-12f);
            float gain = down && apart > 0.0f ? apart * apart / bend : 0.0f;
            unsigned key = __float_as_uint(gain);
            unsigned top = __reduce_max_sync(FULL, key);
            who = __ffs(__ballot_sync(FULL, key == top)) - 1;
            if (lane == 0) {
                gains[turn][warp] = top;
                whose[turn][warp] = (warp << 5) + who;
            }
            __syncthreads();
            one = gains[turn][lane];
            top = __reduce_max_sync(FULL, one);
            if (top == 0u) break;
            int l = whose[turn][__ffs(__ballot_sync(FULL, one == top)) - 1];
            float k_l = there ? K[(long long)l * p + t] : 0.0f;
            float curve = fmaxf(d_i + diagonal[l] - 2.0f * (row_i[l] + offset), 1e-12f);
            float step = (e_i - errors[l]) / curve;
            bool to_high = up_room[i] <= step, to_low = down_room[l] <= step;
            step = fminf(step, fminf(up_room[i], down_room[l]));
            // A row whose room is used up lies exactly at its bound.
            if (t == i) b = to_high && up_room[i] <= down_room[l] ? high : b + step;
            if (t == l) b = to_low && down_room[l] <= up_room[i] ? low : b - step;
            err -= step * (k_i - k_l);
        } else {
            float grow = up && err > 0.0f ? err : 0.0f, shrink = down && err < 0.0f ? -err : 0.0f;
            unsigned most = __reduce_max_sync(FULL, __float_as_uint(grow));
            unsigned least = __reduce_max_sync(FULL, __float_as_uint(shrink));
            float push = fmaxf(grow, shrink);
            unsigned gain = __float_as_uint(push * push / diagonal[t]), top = __reduce_max_sync(FULL, gain);
            int who = __ffs(__ballot_sync(FULL, gain == top)) - 1;
            if (lane == 0) {
                best[turn][0][warp] = most;
                best[turn][1][warp] = least;
                gains[turn][warp] = top;
                where[turn][warp] = (warp << 5) + who;
            }
            __syncthreads();
            most = __reduce_max_sync(FULL, best[turn][0][lane]);
            least = __reduce_max_sync(FULL, best[turn][1][lane]);
            unsigned one = gains[turn][lane];
            top = __reduce_max_sync(FULL, one);
            if (top == 0u || __uint_as_float(most) + __uint_as_float(least) <= stop) break;
            int i = where[turn][__ffs(__ballot_sync(FULL, one == top)) - 1];
            float k_i = there ? K[(long long)i * p + t] + offset : 0.0f, wanted = errors[i] / diagonal[i];
            float step = fmaxf(fminf(wanted, up_room[i]), -down_room[i]);
            if (t == i) b = wanted >= up_room[i] ? high : (wanted <= -down_room[i] ? low : b + step);
            err -= step * k_i;
        }
        done++;
    }
    __syncthreads();
    double moved = there ? b - start : 0.0;
    int total, at = block_scan(moved != 0.0, scan_room, total);
    if (moved != 0.0) {
        beta[place] = b;
        changed[(long long)c * p + at] = sets[(long long)j * p + t];
        change[(long long)c * p + at] = moved;
    }
    if (t == 0) {
        n_changed[c] = total;
        steps[j] += done;
    }
}

// e[j, :] -= Σ_a change[c, a] (K[changed[c, a], :] + offset), four rows of e per thread.
extern "C" __global__ void subtract(const int *active, const float *K, long long ld, long long n, int p,
                                    const int *changed, const double *change, const int *n_changed, double offset,
                                    double *e) {
    __shared__ double factor[1024];
    __shared__ long long start[1024];
    int c = blockIdx.y, j = active[c], many = n_changed[c];
    double shift = 0.0;
    for (int a = threadIdx.x; a < many; a += blockDim.x) {
        int row = changed[(long long)c * p + a];
        factor[a] = change[(long long)c * p + a];
        start[a] = (long long)row * ld;
    }
    __syncthreads();
    long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= n) return;
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    // Rows are padded to whole vectors of four.
#pragma unroll 8
    for (int a = 0; a < many; a++) {
        float4 k = *(const float4 *)(K + start[a] + i);
        double f = factor[a];
        sum[0] += f * k.x;
        sum[1] += f * k.y;
        sum[2] += f * k.z;
        sum[3] += f * k.w;
        shift += f;
    }
    for (int q = 0; q < 4; q++)
        if (i + q < n) e[(long long)j * n + i + q] -= sum[q] + offset * shift;
}

// Turn a tile of inner products P[a0 : a0 + h, b0 : b0 + w] into kernel values K, which may be the same matrix, and write
// its mirror image.
// kind 0 linear, 1 rbf, 2 poly, 3 sigmoid. *infinite becomes 1 if a value is not finite. Blocks of 32 × 8 threads on tiles of 32 × 32.
extern "C" __global__ void finish_tile(const float *P, float *K, long long ld, long long a0, long long b0, long long h, long long w, int kind, float gamma,
                                       float coef0, float degree, const float *norms, int mirror, int *infinite) {
    __shared__ float tile[32][33];
    long long b = b0 + blockIdx.x * 32 + threadIdx.x;
    for (int r = threadIdx.y; r < 32; r += 8) {
        long long a = a0 + blockIdx.y * 32 + r;
        if (a < a0 + h && b < b0 + w) {
            float v = P[a * ld + b];
            if (kind == 1) {
                float far = norms[a] + norms[b] - 2.0f * v;
                if (!isfinite(far)) *infinite = 1;
                v = a == b ? 1.0f : __expf(-gamma * fmaxf(far, 0.0f));
            }
            if (kind == 2) v = powf(gamma * v + coef0, degree);
            if (kind == 3) v = tanhf(gamma * v + coef0);
            if (!isfinite(v)) *infinite = 1;
            K[a * ld + b] = v;
            tile[r][threadIdx.x] = v;
        }
    }
    if (!mirror) return;
    __syncthreads();
    long long a = a0 + blockIdx.y * 32 + threadIdx.x;
    for (int r = threadIdx.y; r < 32; r += 8) {
        long long c = b0 + blockIdx.x * 32 + r;
        if (a < a0 + h && c < b0 + w) K[c * ld + a] = tile[threadIdx.x][r];
    }
}
