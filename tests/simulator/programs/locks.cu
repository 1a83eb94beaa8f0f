// Locks: mutual exclusion, the fences it needs, and waiting for ever.

// Taken, a fence, the work, a fence, given back.
extern "C" __global__ void a_lock_with_fences(int* lock, int* total)
{
    while (atomicCAS(lock, 0, 1) != 0);
    __threadfence();
    total[0] += threadIdx.x;
    __threadfence();
    atomicExch(lock, 0);
}

// One at a time, but the next need not see what the last one wrote.
extern "C" __global__ void a_lock_without_fences(int* lock, int* total)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0);
        total[0] += blockIdx.x + 1; // both
        atomicExch(lock, 0);
    }
}

// Given back by a plain store, which is no atomic.
extern "C" __global__ void a_lock_given_back_by_a_store(int* lock, int* total)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0); // first
        __threadfence();
        total[0] += blockIdx.x + 1;
        __threadfence();
        lock[0] = 0; // second
    }
}

// Served in the order of the tickets.
extern "C" __global__ void a_lock_by_tickets(int* ticket, volatile int* served, int* order)
{
    if (threadIdx.x == 0) {
        int mine = atomicAdd(ticket, 1);
        while (served[0] != mine);
        __threadfence();
        order[1 + order[0]] = mine;
        order[0] += 1;
        __threadfence();
        served[0] = mine + 1;
    }
}

// Each holds one lock and waits for the other's.
extern "C" __global__ void two_locks_in_two_orders(int* locks, volatile int* held)
{
    int mine = blockIdx.x, other = 1 - mine;
    while (atomicCAS(&locks[mine], 0, 1) != 0);
    held[mine] = 1;
    while (held[other] == 0);
    if (mine == 0)
        while (atomicCAS(&locks[1], 0, 1) != 0); // first
    else
        while (atomicCAS(&locks[0], 0, 1) != 0); // second
    atomicExch(&locks[other], 0);
    atomicExch(&locks[mine], 0);
}

// The one who takes the lock leaves with it.
extern "C" __global__ void a_lock_never_given_back(int* lock, int* total)
{
    while (atomicCAS(lock, 0, 1) != 0); // fault
    total[0] += 1;
}

// A loop that forgot its step.
extern "C" __global__ void a_loop_without_a_step(const int* x, int* y, int n)
{
    int sum = 0;
    for (int k = 0; k < n;) sum ^= x[k]; // fault
    y[threadIdx.x] = sum;
}
