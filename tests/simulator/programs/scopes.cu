// Handing data on by cuda::atomic_ref: its order, and the scope that it reaches.

#include <cuda/atomic>

template <cuda::thread_scope Scope>
using flag_of = cuda::atomic_ref<int, Scope>;
using device_flag = flag_of<cuda::thread_scope_device>;
using block_flag = flag_of<cuda::thread_scope_block>;
using system_flag = flag_of<cuda::thread_scope_system>;

// A release and the acquire that sees it need no other fence.
extern "C" __global__ void release_and_acquire(int* flag, int* data, int* y)
{
    device_flag ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = 42;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0);
        y[0] = data[0];
    }
}

// The default order is the strongest, and the widest scope holds between blocks too.
extern "C" __global__ void the_default_order(int* flag, int* data, int* y)
{
    system_flag ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = 42;
        ready = 1;
    } else {
        while (ready == 0);
        y[0] = data[0];
    }
}

// Relaxed accesses with fences around them.
extern "C" __global__ void relaxed_with_fences(int* flag, int* data, int* y)
{
    device_flag ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = 42;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        ready.store(1, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_relaxed) == 0);
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        y[0] = data[0];
    }
}

// Relaxed accesses alone order nothing around them.
extern "C" __global__ void relaxed_without_fences(int* flag, int* data, int* y)
{
    device_flag ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = 42; // first
        ready.store(1, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_relaxed) == 0);
        y[0] = data[0]; // second
    }
}

// A release that nobody acquires.
extern "C" __global__ void released_and_not_acquired(int* flag, int* data, int* y)
{
    device_flag ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = 42; // first
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_relaxed) == 0);
        y[0] = data[0]; // second
    }
}

// An acquire of what nobody released.
extern "C" __global__ void acquired_and_not_released(int* flag, int* data, int* y)
{
    device_flag ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = 42; // first
        ready.store(1, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0);
        y[0] = data[0]; // second
    }
}

// An atomic of the block's scope is none for another block: the flag itself races.
extern "C" __global__ void the_blocks_scope_between_blocks(int* flag, int* data, int* y)
{
    block_flag ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = 42;
        ready.store(1, cuda::memory_order_release); // first
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0); // second
        y[0] = 1;
    }
}

// Within a block the block's scope is enough.
extern "C" __global__ void the_blocks_scope_within_a_block(const int* x, int* y)
{
    __shared__ int data, flag;
    block_flag ready(flag);
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = x[0];
        ready.store(1, cuda::memory_order_release);
    } else if (threadIdx.x == 32) {
        while (ready.load(cuda::memory_order_acquire) == 0);
        y[0] = data;
    }
}

// Added up with the block's scope, by all blocks.
extern "C" __global__ void a_counter_of_the_blocks_scope(int* count)
{
    if (threadIdx.x == 0) atomicAdd_block(count, 1); // both
}

// Each block adds to a counter of its own, with the block's scope.
extern "C" __global__ void a_counter_for_each_block(int* counts)
{
    atomicAdd_block(&counts[blockIdx.x], threadIdx.x);
}

// The second block adds to the flag; who acquires the sum has acquired the first release too.
extern "C" __global__ void a_release_carried_by_an_addition(int* flag, int* data, int* y)
{
    device_flag ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = 42;
        ready.fetch_add(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (ready.load(cuda::memory_order_relaxed) == 0);
        ready.fetch_add(1, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_acquire) < 2);
        y[0] = data[0];
    }
}

// The second block stores to the flag: that ends what the first released.
extern "C" __global__ void a_release_ended_by_a_store(int* flag, int* data, int* y)
{
    device_flag ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = 42; // first
        ready.store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (ready.load(cuda::memory_order_relaxed) == 0);
        ready.store(2, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_relaxed) < 2);
        ready.load(cuda::memory_order_acquire);
        y[0] = data[0]; // second
    }
}

// From block to block to block, each acquires and releases.
extern "C" __global__ void a_chain_of_releases(int* flags, int* data, int* y)
{
    device_flag first(flags[0]), second(flags[1]);
    if (blockIdx.x == 0) {
        data[0] = 42;
        first.store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (first.load(cuda::memory_order_acquire) == 0);
        second.store(1, cuda::memory_order_release);
    } else {
        while (second.load(cuda::memory_order_acquire) == 0);
        y[0] = data[0];
    }
}

// The one in the middle looks without acquiring, so it has nothing to hand on.
extern "C" __global__ void a_chain_that_is_relaxed_in_the_middle(int* flags, int* data, int* y)
{
    device_flag first(flags[0]), second(flags[1]);
    if (blockIdx.x == 0) {
        data[0] = 42; // first
        first.store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (first.load(cuda::memory_order_relaxed) == 0);
        second.store(1, cuda::memory_order_release);
    } else {
        while (second.load(cuda::memory_order_acquire) == 0);
        y[0] = data[0]; // second
    }
}

// A lock taken by compare and exchange, given back by a store.
extern "C" __global__ void a_lock_acquired_and_released(int* lock, int* total)
{
    device_flag taken(*lock);
    int free = 0;
    while (!taken.compare_exchange_weak(free, 1, cuda::memory_order_acquire,
                                        cuda::memory_order_relaxed))
        free = 0;
    total[0] += blockIdx.x + 1;
    taken.store(0, cuda::memory_order_release);
}

// The data itself is atomic and relaxed: no order, and none is asked for.
extern "C" __global__ void relaxed_counters(const int* x, int* counts)
{
    device_flag bin(counts[x[blockIdx.x * blockDim.x + threadIdx.x]]);
    bin.fetch_add(1, cuda::memory_order_relaxed);
}
