package unimem

// fallbackMemory is the largest size of a Block in bytes on a machine with an unknown amount
// of memory. It is low, because allocating too much on the Go heap ends the process.
const fallbackMemory = 1 << 30
