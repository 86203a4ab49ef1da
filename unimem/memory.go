package unimem

// fallbackMemory bounds a Block in bytes where the machine does not say how much memory it
// has: asking the Go heap for more than there is ends the process, so the bound is low.
const fallbackMemory = 1 << 30
