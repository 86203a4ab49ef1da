package unimem

// inlined calls f, for the speed of methods that are nothing but a call of it: the compiler inlines a function literal
// that is called once up to ten times the size of other functions. So such a method is inlined as a whole, except for
// the functions that f calls in rare cases. An inlined f must not call inlined.
func inlined(f func()) { f() }
