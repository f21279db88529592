// How a processor goes on with another fiber.
#pragma once

#ifdef __x86_64__

// switch_fiber leaves its place on the stack in *from and goes on at to. The callee saves these registers and no others.
extern "C" void switch_fiber(void **from, void *to);
asm(R"(
.text
.hidden switch_fiber
.type switch_fiber, @function
switch_fiber:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmp *%rcx
.size switch_fiber, .-switch_fiber
)");

// begin_on is where a function that never returns begins on a stack.
static void *begin_on(void *stack, size_t bytes, void (*what)()) {
    void **top = (void **)((char *)stack + bytes) - 1; // as after a call: 8 beside a multiple of 16
    *top = nullptr;
    *--top = (void *)what;
    return top - 6;
}

#else
#include <ucontext.h>

// On other processors the C library switches, by a system call each time. A context lies at the lower end of its stack.
static void switch_fiber(void **from, void *to) {
    ucontext_t here;
    *from = &here;
    swapcontext(&here, (ucontext_t *)to);
}
static void *begin_on(void *stack, size_t bytes, void (*what)()) {
    auto c = (ucontext_t *)stack;
    getcontext(c);
    c->uc_stack.ss_sp = c + 1, c->uc_stack.ss_size = bytes - sizeof *c, c->uc_link = nullptr;
    makecontext(c, what, 0);
    return c;
}

#endif
