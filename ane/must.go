package ane

// Must returns v, and panics if err is not nil. It is for examples, tests and programs that end
// with the first error:
//
//	device := ane.Must(engine.Open(ctx, engine.Auto))
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
