package standin

// Counts are what the framework has done and holds. The fields stand as in
// standin_counts of standin.h.
type Counts struct {
	Compiles, Budget, Cached, Loaded int64 // programs compiled, allowed, in the cache, loaded
	Instances                        int64 // objects of the framework's classes alive
	Hanging, Lost                    int64 // calls blocked, completions held back
	Evaluations, Slots               int64 // evaluations served; asynchronous ones in flight
}

// SurfaceCounts are what the stand-in CoreFoundation and IOSurface hold. The
// fields stand as in standin_surface_stats of standin.h.
type SurfaceCounts struct {
	Objects, Surfaces int64 // CoreFoundation objects alive, surfaces included; surfaces alive
	Locks             int64 // locks held over all surfaces
	Bytes             int64 // mapped
	Retains, Releases int64 // of all time
}
