#import "internal.h"

struct aneb_process aneb_process = {.mutex = PTHREAD_MUTEX_INITIALIZER};

uint32_t aneb_version(void) { return ANEB_VERSION; }

bool aneb_take(atomic_llong *count, int64_t limit) {
    long long now = atomic_load(count);
    do {
        if (now >= limit) return false;
    } while (!atomic_compare_exchange_weak(count, &now, now + 1));
    return true;
}

void aneb_usage_now(aneb_usage *out) {
    if (out == NULL) return;
    struct aneb_process *now = &aneb_process;
    *out = (aneb_usage){
        .compiles = atomic_load(&now->compiles),
        .loaded = atomic_load(&now->loaded),
        .program_limit = atomic_load(&now->program_limit),
        .programs = atomic_load(&now->programs),
        .surfaces = atomic_load(&now->surfaces),
        .requests = atomic_load(&now->requests),
        .identities = atomic_load(&now->identities),
    };
}
