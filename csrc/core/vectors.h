// For kernel files only: vector registers of floats, and the functions that kernels share. Everything is internal to the file that
// includes it, so that each instruction set has its own copy.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace fastsql::cpu::FASTSQL_SET {
namespace {

constexpr std::size_t kPanel = FASTSQL_PANEL;
constexpr std::size_t kLanes = kPanel / 2;

typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));
// The same in memory, where nothing is aligned.
typedef float LooseVector __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));

inline Vector load(const float* from) { return *reinterpret_cast<const LooseVector*>(from); }

// Bytes become floats in few instructions, which GCC does not find by itself.
inline Vector load(const std::int8_t* from) {
#if defined(__AVX512F__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_maskz_cvtepi8_epi32(0xFFFF, bytes));
#elif defined(__AVX2__)
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#elif defined(__SSE2__)
  int four;
  __builtin_memcpy(&four, from, sizeof four);
  const __m128i bytes = _mm_cvtsi32_si128(four), pairs = _mm_unpacklo_epi8(bytes, bytes);
  return _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(pairs, pairs), 24));
#else
  Vector values;
  for (std::size_t lane = 0; lane < kLanes; ++lane) values[lane] = from[lane];
  return values;
#endif
}

inline void store(float* to, Vector values) { *reinterpret_cast<LooseVector*>(to) = values; }

// Bit i is set where lane i is not zero.
inline std::uint32_t nonzero_lanes(Vector values) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask((__m512)values, _mm512_setzero_ps(), _CMP_NEQ_UQ);
#elif defined(__AVX2__)
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps((__m256)values, _mm256_setzero_ps(), _CMP_NEQ_UQ)));
#elif defined(__SSE2__)
  return static_cast<std::uint32_t>(_mm_movemask_ps(_mm_cmpneq_ps((__m128)values, _mm_setzero_ps())));
#else
  std::uint32_t bits = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) bits |= static_cast<std::uint32_t>(values[lane] != 0.0f) << lane;
  return bits;
#endif
}

// Unsigned integers of the width of a float, or of each lane of a vector.
template <typename Float>
struct Words;
template <>
struct Words<float> {
  typedef std::uint32_t type;
};
template <>
struct Words<Vector> {
  typedef std::uint32_t type __attribute__((vector_size(sizeof(Vector))));
};

// e^x for x <= 0, to about 2e-7 relative; below -87 it stays at e^-87. Cephes' expf polynomial: x is split into
// n ln 2 + r with |r| <= ln 2 / 2, and 2^n is put together from its exponent bits. For one float or a vector of them.
template <typename Float>
inline Float exp_nonpositive(Float x) {
  const Float least = Float{} - 87.0f;
  x = x < least ? least : x;
  const Float shifted = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the sum's low bits are round(x / ln 2)
  const Float n = shifted - 12582912.0f;
  const Float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  Float p = 1.9875691500e-4f * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  typename Words<Float>::type bits;
  __builtin_memcpy(&bits, &shifted, sizeof bits);
  bits = (bits << 23) + 0x3F800000u;
  Float power;
  __builtin_memcpy(&power, &bits, sizeof power);
  return p * power;
}

// The Gaussian error linear unit in its tanh form (Hendrycks and Gimpel, 2016), which is x times the logistic function of twice
// the argument of tanh. With e = e^-|twice| that is x e / (1 + e) below zero and x - x e / (1 + e) above, here without a branch.
inline Vector gelu(Vector x) {
  const Vector zero = {}, twice = 1.5957691216f * (x + 0.044715f * x * x * x);
  const Vector e = exp_nonpositive(twice < zero ? twice : -twice);
  const Vector positive = x > zero ? x : zero;
  const Vector size = x > zero ? x : -x;
  return positive - size * e / (1.0f + e);
}

}  // namespace
}  // namespace fastsql::cpu::FASTSQL_SET
