package fpenv

// Altered makes careless conversions wrong: round up, flush to zero, denormals are zero, all exceptions masked (Intel
// SDM volume 1, 10.2.3).
const Altered = 0xdfc0
