// Chains, rings and counters: data that goes through several hands.

#include <cuda/atomic>

using device_counter = cuda::atomic_ref<int, cuda::thread_scope_device>;

// From the first block by the second to the third: what the second saw, the third sees.
extern "C" __global__ void a_chain_of_three_blocks(volatile int* flags, int* data, int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        flags[0] = 1;
    } else if (blockIdx.x == 1) {
        while (flags[0] == 0);
        __threadfence(); // of both: after the flag it saw, before the flag it raises
        flags[1] = 1;
    } else {
        while (flags[1] == 0);
        __threadfence();
        y[0] = data[0];
    }
}

// The second block passes the flag on and has no fence.
extern "C" __global__ void a_chain_without_its_middle_fence(volatile int* flags, int* data, int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42; // first
        __threadfence();
        flags[0] = 1;
    } else if (blockIdx.x == 1) {
        while (flags[0] == 0);
        flags[1] = 1;
    } else {
        while (flags[1] == 0);
        __threadfence();
        y[0] = data[0]; // second
    }
}

// A number that only grows says how many elements are there.
extern "C" __global__ void a_progress_that_only_grows(volatile int* done, int* data, int* y, int n)
{
    for (int k = 0; k < n; ++k) {
        if (blockIdx.x == 0) {
            data[k] = k * k;
            __threadfence();
            done[0] = k + 1;
        } else {
            while (done[0] <= k);
            __threadfence();
            y[k] = data[k];
        }
    }
}

// Flag and value share one word: what is seen is complete, and no fence is needed.
extern "C" __global__ void flag_and_value_in_one_word(volatile unsigned long long* word, int* y)
{
    if (blockIdx.x == 0) {
        word[0] = 1ull << 32 | 42;
    } else {
        unsigned long long seen;
        while (((seen = word[0]) >> 32) == 0);
        y[0] = int(seen);
    }
}

// The slot is filled again without a word from the one who reads it.
extern "C" __global__ void a_slot_filled_before_it_was_read(volatile int* flag, int* data, int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        flag[0] = 1;
        data[0] = 43; // second
    } else {
        while (flag[0] == 0);
        __threadfence();
        y[0] = data[0]; // first
    }
}

// The slot is filled again once the one who reads it has said so.
extern "C" __global__ void a_slot_that_is_handed_back(volatile int* flags, int* data, int* y)
{
    for (int turn = 1; turn <= 3; ++turn) {
        if (blockIdx.x == 0) {
            while (flags[1] < turn - 1);
            __threadfence();
            data[0] = 10 * turn;
            __threadfence();
            flags[0] = turn;
        } else {
            while (flags[0] < turn);
            __threadfence();
            y[turn] = data[0];
            __threadfence();
            flags[1] = turn;
        }
    }
}

// Several blocks write, each adds one; who has seen the whole sum has seen them all.
extern "C" __global__ void many_writers_and_one_counter(int* count, int* data, int* y)
{
    device_counter written(*count);
    int b = blockIdx.x, last = gridDim.x - 1;
    if (b < last) {
        data[b] = 10 * b;
        written.fetch_add(1, cuda::memory_order_release);
    } else {
        while (written.load(cuda::memory_order_acquire) < last);
        for (int k = 0; k < last; ++k) y[k] = data[k];
    }
}

// One of the writers does not add its one, and nobody waits for it.
extern "C" __global__ void a_writer_that_is_not_counted(int* count, int* data, int* y)
{
    device_counter written(*count);
    int b = blockIdx.x, last = gridDim.x - 1;
    if (b < last) {
        data[b] = 10 * b; // first
        if (b > 0) written.fetch_add(1, cuda::memory_order_release);
    } else {
        while (written.load(cuda::memory_order_acquire) < last - 1);
        for (int k = 0; k < last; ++k) y[k] = data[k]; // second
    }
}

// A ring of two slots: the writer waits for a free one, the reader for a full one.
extern "C" __global__ void a_ring_of_two_slots(volatile int* full, volatile int* freed, int* data,
                                               int* y, int n)
{
    for (int k = 0; k < n; ++k) {
        if (blockIdx.x == 0) {
            while (k - freed[0] >= 2);
            __threadfence();
            data[k % 2] = k * k;
            __threadfence();
            full[0] = k + 1;
        } else {
            while (full[0] <= k);
            __threadfence();
            y[k] = data[k % 2];
            __threadfence();
            freed[0] = k + 1;
        }
    }
}

// The reader hands the slot back, and only then looks into it.
extern "C" __global__ void a_slot_handed_back_before_it_is_read(volatile int* flags, int* data,
                                                                int* y)
{
    for (int turn = 1; turn <= 3; ++turn) {
        if (blockIdx.x == 0) {
            while (flags[1] < turn - 1);
            __threadfence();
            data[0] = 10 * turn; // second
            __threadfence();
            flags[0] = turn;
        } else {
            while (flags[0] < turn);
            __threadfence();
            flags[1] = turn;
            y[turn] = data[0]; // first
        }
    }
}

// Barrier, then a release by one thread: it hands on what the whole block wrote.
extern "C" __global__ void a_release_for_the_whole_block(int* flag, int* data, int* y)
{
    device_counter ready(*flag);
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 10 * t;
        __syncthreads();
        if (t == 0) ready.store(1, cuda::memory_order_release);
    } else {
        if (t == 0)
            while (ready.load(cuda::memory_order_acquire) == 0);
        __syncthreads();
        y[t] = data[63 - t];
    }
}

// The fence is there, but another thread than the one who raises the flag has passed it.
extern "C" __global__ void a_fence_of_another_thread(volatile int* flag, int* data, int* y)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 1) __threadfence();
        if (threadIdx.x == 0) {
            data[0] = 42; // first
            flag[0] = 1;
        }
    } else if (threadIdx.x == 0) {
        while (flag[0] == 0);
        __threadfence();
        y[0] = data[0]; // second
    }
}

// The fence stands behind the flag.
extern "C" __global__ void a_fence_behind_the_flag(volatile int* flag, int* data, int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42; // first
        flag[0] = 1;
        __threadfence();
    } else {
        while (flag[0] == 0);
        __threadfence();
        y[0] = data[0]; // second
    }
}

// A block takes the lock together: one thread for all, between barriers.
extern "C" __global__ void a_lock_for_a_whole_block(int* lock, int* totals)
{
    int t = threadIdx.x;
    if (t == 0) {
        while (atomicCAS(lock, 0, 1) != 0);
        __threadfence();
    }
    __syncthreads();
    totals[t] += t + blockIdx.x;
    __syncthreads();
    if (t == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}

// The lock is given back before the others of the block have done their work.
extern "C" __global__ void a_lock_given_back_too_early(int* lock, int* totals)
{
    int t = threadIdx.x;
    if (t == 0) {
        while (atomicCAS(lock, 0, 1) != 0);
        __threadfence();
    }
    __syncthreads();
    totals[t] += t + blockIdx.x; // both
    if (t == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}

// Who wins the exchange writes alone.
extern "C" __global__ void claimed_by_one_thread(int* claimed, int* y)
{
    if (atomicCAS(claimed, 0, 1) == 0) y[0] += 7;
}

// The taker clears the slot without a fence: its zero may be overtaken by the value it clears.
extern "C" __global__ void cleared_without_a_fence(volatile int* flag, int* data, int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42; // first
        flag[0] = 1;
    } else {
        while (flag[0] == 0);
        data[0] = 0; // second
    }
}
