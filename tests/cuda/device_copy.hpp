// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A vector's copy on a device, `Storage` its memory: the card's, or the emulated one's.
#pragma once

#include <sinter/sinter.hpp>

#include <vector>

template <class Storage, class Type>
struct device_copy {
    Type* device;
    sinter::i64 count;
    explicit device_copy(const std::vector<Type>& host)
        : device(Storage::template allocate<Type>(sinter::i64(host.size()))), count(sinter::i64(host.size())) {
        Storage::upload(device, host.data(), count);
    }
    device_copy(const device_copy&) = delete;
    device_copy& operator=(const device_copy&) = delete;
    ~device_copy() { Storage::release(device); }
    std::vector<Type> read() const {
        std::vector<Type> out(static_cast<std::size_t>(count));
        Storage::download(out.data(), device, count);
        return out;
    }
};
