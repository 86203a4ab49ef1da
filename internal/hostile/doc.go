// Package hostile holds tests alone: a campaign of hostile clients against the broker, and programs that break the
// rules of unimem.
//
// TestCampaign starts the broker in a child process and attacks it in rounds. In each round some attackers, each a
// process of its own, carry out an attack of the table in attacks_linux_test.go and hold what they got. A well-behaved
// client compiles and evaluates programs by the public API, while the attackers hold and after they have ended.
// The attackers end by themselves, by SIGKILL, or by SIGKILL after SIGSTOP. Rounds in between end the broker by a
// signal, rewrite its cache or close its standard error. At the end the broker has as many
// descriptors, mappings, threads, goroutines and bytes as after its first round.
//
// The test prints its seed. The environment repeats and extends a run:
//
//	ANEKIT_HOSTILE=2m          how long the campaign attacks; without it 10 s, with ANEKIT_FULL alone
//	ANEKIT_HOSTILE_SEED=17     choose the same attacks in the same order
//	ANEKIT_HOSTILE_ATTACK=bell carry out this attack alone
//	ANEKIT_HOSTILE_FAULTS=1    break the broker's surroundings too: make soak
package hostile
