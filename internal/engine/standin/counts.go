package standin

// Counts are the counts of the framework's work and objects. The order of the
// fields is that of standin_counts in standin.h.
type Counts struct {
	Compiles, Held, Cached, Loaded int64 // programs compiled; slots held; programs in the cache, loaded
	Instances                      int64 // live objects of the framework's classes
	Hanging, Lost                  int64 // blocked calls, withheld completions
	Evaluations, Slots             int64 // evaluations served; asynchronous ones in flight
	Loads, Procedures              int64 // loads since the start; procedures of the loaded programs
	Wired, Pageable                int64 // loads with the option to keep memory wired, 1 and 0
}

// SurfaceCounts are the counts of the stand-in CoreFoundation and IOSurface.
// The order of the fields is that of standin_surface_stats in standin.h.
type SurfaceCounts struct {
	Objects, Surfaces int64 // live CoreFoundation objects, including surfaces; live surfaces
	Locks             int64 // locks held over all surfaces
	Bytes             int64 // mapped
	Retains, Releases int64 // since the start
}
