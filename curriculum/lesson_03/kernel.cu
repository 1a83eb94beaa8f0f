// Lesson 03: the first kernels. Each one is written from the view of a single thread.
//
//   grid    [blocks]       one-dimensional, except add_2d
//   block   [threads]      any size from 1 to 1024
//   shared  none

// Task 1. One thread an element; the last block may have threads left over.
//
//   a, b    float[n]   read, any value, NaN and infinities too
//   c       float[n]   written; c may be the same array as a or b
//   n       1 .. 2^31 - 1024
//   grid    ceil(n / blockDim.x)
extern "C" __global__
void vec_add(const float* a, const float* b, float* c, int n)
{
    // TASK 1: find the index of this thread's element, and add the pair if there is one
    // TODO: about 2 lines
}

// Task 3. y becomes a * x + y, in place.
//
//   x       float[n]   read
//   y       float[n]   read and written
//   a       any value; 0 too, and 0 * infinity is NaN
//   n       1 .. 2^31 - 1024
//   grid    ceil(n / blockDim.x)
extern "C" __global__
void axpy(const float* x, float* y, float a, int n)
{
    // TASK 3: the same index and guard, around one multiply and one add
    // TODO: about 2 lines
}

// Task 4. The grid-stride loop: right for any grid, even one block of one thread.
//
//   a, b    float[n]   read
//   c       float[n]   written
//   n       0 .. 2^40, so an index needs 64 bits
//   grid    any
extern "C" __global__
void vec_add_gs(const float* a, const float* b, float* c, long long n)
{
    // TASK 4: start at this thread's own index, and step by the number of threads in the grid
    // TODO: about 3 lines
}

// Task 4, on bytes. A sum past 255 wraps: 250 + 10 is 4.
//
//   a, b    unsigned char[n]   read
//   c       unsigned char[n]   written
//   n       0 .. 2^40
//   grid    any
extern "C" __global__
void add_u8(const unsigned char* a, const unsigned char* b, unsigned char* c, long long n)
{
    // TASK 4: the same loop, on bytes
    // TODO: about 3 lines
}

// Task 6 (stretch). out[r][k] = a[r][k] + s for k < cols; the padding of out keeps its values.
//
//   a       float[rows, pitch]   read where the column is below cols
//   out     float[rows, pitch]   written there
//   pitch   cols or more: the distance in elements from one row to the next
//   grid    any (x along the columns, y along the rows)
//   block   any (x, y)
extern "C" __global__
void add_2d(const float* a, float* out, float s, int rows, int cols, int pitch)
{
    // TASK 6: a grid-stride loop over rows around one over columns
    // TODO: about 6 lines
}

// Task 7 (stretch). A sum too large or too small for an int stops at the largest or the smallest.
//
//   a, b    int[n]   read
//   c       int[n]   written
//   n       1 .. 2^31 - 1024
//   grid    ceil(n / blockDim.x)
extern "C" __global__
void saturating_add_i32(const int* a, const int* b, int* c, int n)
{
    // TASK 7: add in 64 bits, where nothing overflows, and clamp to -2^31 .. 2^31 - 1
    // TODO: about 6 lines
}

// Task 9 (stretch). Four elements a thread, so that more bytes are under way. Block b adds the tile of
// 4 * blockDim.x elements that begins at b * 4 * blockDim.x; a thread's four lie blockDim.x apart.
//
//   a, b    float[n]   read
//   c       float[n]   written; c may be the same array as a or b
//   n       1 .. 2^31 - 4096, so that no index overflows in the last tile
//   grid    ceil(n / (4 * blockDim.x))
extern "C" __global__
void vec_add_four(const float* a, const float* b, float* c, int n)
{
    // TASK 9: load the four pairs, as far as there are any, before you store the first sum
    // TODO: about 11 lines
}
