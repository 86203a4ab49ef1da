package fpenv

// Altered makes careless conversions wrong: alternative half format, default NaN, flush to zero for single and half
// precision, round up. Source: Arm Architecture Reference Manual, FPCR: AHP 26, DN 25, FZ 24, RMode 23:22, FZ16 19.
const Altered = 1<<26 | 1<<25 | 1<<24 | 1<<22 | 1<<19
