// libcu++: atomics with a scope and an order.
//
//   x       int[n]
//   cells   as each kernel says

#include <cuda/atomic>

template <cuda::thread_scope Scope>
__device__ void add_to_all(int* cells, int v)
{
    cuda::atomic_ref<int, Scope> relaxed(cells[0]), acquire(cells[1]), release(cells[2]);
    cuda::atomic_ref<int, Scope> both(cells[3]), total(cells[4]);
    relaxed.fetch_add(v, cuda::memory_order_relaxed);
    acquire.fetch_add(v, cuda::memory_order_acquire);
    release.fetch_sub(v, cuda::memory_order_release);
    both.fetch_or(v, cuda::memory_order_acq_rel);
    total.fetch_add(v, cuda::memory_order_seq_cst);
}

// cells int[3][5]: of the block's, the device's and the system's scope
extern "C" __global__ void scopes_and_orders(const int* x, int* cells, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    add_to_all<cuda::thread_scope_block>(cells, x[i]);
    add_to_all<cuda::thread_scope_device>(cells + 5, x[i]);
    add_to_all<cuda::thread_scope_system>(cells + 10, x[i]);
}

// words unsigned[5], longs[2], singles[2], doubles[1]
extern "C" __global__ void operations(const int* x, unsigned* words, unsigned long long* longs,
                                      float* singles, double* doubles, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    using cuda::atomic_ref;
    using cuda::memory_order_relaxed;
    constexpr auto device = cuda::thread_scope_device;
    unsigned v = x[i];
    atomic_ref<unsigned, device>(words[0]).fetch_and(v | 0xff00, memory_order_relaxed);
    atomic_ref<unsigned, device>(words[1]).fetch_xor(v, memory_order_relaxed);
    atomic_ref<unsigned, device>(words[2]).fetch_max(v, memory_order_relaxed);
    atomic_ref<unsigned, device>(words[3]).fetch_min(v, memory_order_relaxed);
    ++atomic_ref<unsigned, device>(words[4]);
    atomic_ref<unsigned long long, device>(longs[0]).fetch_add(v, memory_order_relaxed);
    atomic_ref<float, device>(singles[0]).fetch_add(float(x[i]), memory_order_relaxed);
    atomic_ref<double, device>(doubles[0]).fetch_add(double(x[i]), memory_order_relaxed);
    atomic_ref<unsigned long long, device> product(longs[1]);  // of odd numbers
    unsigned long long seen = product.load();
    while (!product.compare_exchange_weak(seen, seen * (2 * v + 1))) {
    }
    atomic_ref<float, device> largest(singles[1]);
    float now = largest.load(memory_order_relaxed);
    while (now < x[i] && !largest.compare_exchange_strong(now, float(x[i]), cuda::memory_order_acq_rel)) {
    }
}

// Of a lock in shared memory: cells int[2], each block adds its threads one by one.
extern "C" __global__ void spin_lock(int* cells)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> lock;
    __shared__ int sum;
    if (threadIdx.x == 0) {
        lock.store(0);
        sum = 0;
    }
    __syncthreads();
    bool done = false;
    while (!done) {
        if (lock.exchange(1, cuda::memory_order_acquire) == 0) {
            sum = *const_cast<volatile int*>(&sum) + threadIdx.x;
            lock.store(0, cuda::memory_order_release);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(cells, sum);
}

// Block 0 waits until all others have come.
extern "C" __global__ void waits_for_others(int* arrived, int* data, int* y)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(*arrived);
    if (blockIdx.x > 0) {
        if (threadIdx.x == 0) {
            data[blockIdx.x] = 10 * blockIdx.x;
            flag.fetch_add(1, cuda::memory_order_release);
        }
    } else {
        while (flag.load(cuda::memory_order_acquire) < int(gridDim.x) - 1) {
        }
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
        int sum = 0;
        for (int b = 1; b < gridDim.x; ++b) sum += data[b];
        y[threadIdx.x] = sum;
    }
}

// wait and notify: block 0 sleeps until block 1 has changed the value.
extern "C" __global__ void wait_and_notify(int* cell, int* y)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> value(*cell);
    if (blockIdx.x == 0) {
        value.wait(0, cuda::memory_order_acquire);
        y[threadIdx.x] = value.load();
    } else if (threadIdx.x == 0) {
        value.store(9, cuda::memory_order_release);
        value.notify_all();
    }
}
