// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sound card of a HAT with a WM8804: I2S in, S/PDIF out. The WM8804 gives the clocks. Its PLL makes them of a
 * crystal of 27 MHz, or of two oscillators, one for each family of rates. Each of the two has a line that switches it
 * on.
 *
 * Device tree: compatible "tonearm,wm8804-card", model, tonearm,i2s, tonearm,codec; optional clock-44k-gpios with
 * clock-48k-gpios, and mclk-256fs for 256 fs above 96 kHz, too. A reset line is the codec's (wlf,reset-gpio), as its
 * driver looks for the chip first.
 *
 * Copyright: Tonearm maintainers
 */
#include <linux/delay.h>
#include <linux/gpio/consumer.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <sound/pcm_params.h>

#include "tonearm-card.h"
#include "wm8804.h"

#define CRYSTAL 27000000
#define OSCILLATOR_44K 22579200
#define OSCILLATOR_48K 24576000
/* Microseconds until the clock of an oscillator is stable: 10 ms in data sheets. */
#define OSCILLATOR_START 10000

struct wm8804_card {
	struct tonearm_card base;
	struct gpio_desc *clock_44k, *clock_48k;
	bool always_256fs;
	/* The rate that the PLL runs for; 0: none. */
	unsigned int rate;
};

static const unsigned int rates[] = { 32000, 44100, 48000, 88200, 96000, 176400, 192000 };
/* What the S/PDIF stream says of each: IEC 60958-3, channel status, bits 24 to 27. */
static const u8 rate_codes[] = { 0x3, 0x0, 0x2, 0x8, 0xa, 0xc, 0xe };

static const struct snd_pcm_hw_constraint_list rate_list = {
	.count = ARRAY_SIZE(rates),
	.list = rates,
};

/* Bits 32 to 35: a word of 24 or 20 bits where up to 24 are possible, or of 16 where 20 are. */
static u8 word_length_code(unsigned int width)
{
	switch (width) {
	case 16:
		return 0x2;
	case 20:
		return 0x3;
	default:
		return 0xb;
	}
}

static int write_channel_status(struct snd_soc_component *codec, unsigned int rate, unsigned int width)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(rates); i++)
		if (rates[i] == rate)
			break;
	if (i == ARRAY_SIZE(rates))
		return -EINVAL;
	ret = snd_soc_component_update_bits(codec, WM8804_SPDTX4, 0x0f, rate_codes[i]);
	if (ret < 0)
		return ret;
	ret = snd_soc_component_update_bits(codec, WM8804_SPDTX5, 0x0f, word_length_code(width));
	return ret < 0 ? ret : 0;
}

/* Switches the oscillator of the rate on, where there are two. Returns the frequency that the PLL gets. */
static unsigned int choose_oscillator(struct wm8804_card *hat, unsigned int rate)
{
	bool of_44k = rate % 11025 == 0;
	struct gpio_desc *on = of_44k ? hat->clock_44k : hat->clock_48k;
	struct gpio_desc *off = of_44k ? hat->clock_48k : hat->clock_44k;

	if (!on)
		return CRYSTAL;
	/* Never both at once: their outputs are connected. */
	gpiod_set_value_cansleep(off, 0);
	if (!gpiod_get_value_cansleep(on)) {
		gpiod_set_value_cansleep(on, 1);
		usleep_range(OSCILLATOR_START, OSCILLATOR_START + 1000);
	}
	return of_44k ? OSCILLATOR_44K : OSCILLATOR_48K;
}

static int set_clocks(struct wm8804_card *hat, struct snd_soc_dai *codec, unsigned int rate)
{
	bool by_256 = rate <= 96000 || hat->always_256fs;
	unsigned int mclk = rate * (by_256 ? 256 : 128);
	int ret;

	/* A receiver loses the signal while the PLL is set: not for another track of the same rate. */
	if (rate == hat->rate)
		return 0;
	hat->rate = 0;
	/* Off while its source changes, or it would run outside of its range. */
	ret = snd_soc_dai_set_pll(codec, 0, 0, 0, 0);
	if (ret < 0)
		return ret;
	ret = snd_soc_dai_set_clkdiv(codec, WM8804_MCLK_DIV, by_256 ? WM8804_MCLKDIV_256FS : WM8804_MCLKDIV_128FS);
	if (ret < 0)
		return ret;
	ret = snd_soc_dai_set_pll(codec, 0, 0, choose_oscillator(hat, rate), mclk);
	if (ret < 0)
		return ret;
	ret = snd_soc_dai_set_sysclk(codec, WM8804_TX_CLKSRC_PLL, mclk, SND_SOC_CLOCK_OUT);
	if (ret < 0)
		return ret;
	hat->rate = rate;
	return 0;
}

static int wm8804_card_startup(struct snd_pcm_substream *substream)
{
	return snd_pcm_hw_constraint_list(substream->runtime, 0, SNDRV_PCM_HW_PARAM_RATE, &rate_list);
}

static int wm8804_card_hw_params(struct snd_pcm_substream *substream, struct snd_pcm_hw_params *params)
{
	struct snd_soc_pcm_runtime *rtd = snd_soc_substream_to_rtd(substream);
	struct wm8804_card *hat = snd_soc_card_get_drvdata(rtd->card);
	struct snd_soc_dai *codec = snd_soc_rtd_to_codec(rtd, 0);
	int ret;

	ret = set_clocks(hat, codec, params_rate(params));
	if (ret < 0) {
		dev_err(rtd->card->dev, "The clocks of %u Hz cannot be set: %d\n", params_rate(params), ret);
		return ret;
	}
	return write_channel_status(codec->component, params_rate(params), params_width(params));
}

static const struct snd_soc_ops wm8804_card_ops = {
	.startup = wm8804_card_startup,
	.hw_params = wm8804_card_hw_params,
};

static int wm8804_card_init(struct snd_soc_pcm_runtime *rtd)
{
	/* Two slots of 32 bits, whatever the samples have. */
	return snd_soc_dai_set_bclk_ratio(snd_soc_rtd_to_cpu(rtd, 0), 64);
}

static int get_clock_lines(struct device *dev, struct wm8804_card *hat)
{
	hat->clock_44k = devm_gpiod_get_optional(dev, "clock-44k", GPIOD_OUT_LOW);
	if (IS_ERR(hat->clock_44k))
		return dev_err_probe(dev, PTR_ERR(hat->clock_44k), "clock-44k-gpios cannot be used\n");
	hat->clock_48k = devm_gpiod_get_optional(dev, "clock-48k", GPIOD_OUT_LOW);
	if (IS_ERR(hat->clock_48k))
		return dev_err_probe(dev, PTR_ERR(hat->clock_48k), "clock-48k-gpios cannot be used\n");
	if (!hat->clock_44k != !hat->clock_48k)
		return dev_err_probe(dev, -EINVAL, "one of clock-44k-gpios and clock-48k-gpios is missing\n");
	return 0;
}

static int wm8804_card_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct wm8804_card *hat;
	int ret;

	hat = devm_kzalloc(dev, sizeof(*hat), GFP_KERNEL);
	if (!hat)
		return -ENOMEM;
	hat->always_256fs = of_property_read_bool(dev->of_node, "mclk-256fs");
	ret = get_clock_lines(dev, hat);
	if (ret)
		return ret;
	hat->base.link.name = hat->base.link.stream_name = "WM8804";
	hat->base.link.dai_fmt = SND_SOC_DAIFMT_I2S | SND_SOC_DAIFMT_NB_NF | SND_SOC_DAIFMT_CBP_CFP;
	hat->base.link.playback_only = 1;
	hat->base.link.init = wm8804_card_init;
	hat->base.link.ops = &wm8804_card_ops;
	snd_soc_card_set_drvdata(&hat->base.card, hat);
	return tonearm_register_card(dev, &hat->base, "wm8804-spdif");
}

static const struct of_device_id wm8804_card_match[] = {
	{ .compatible = "tonearm,wm8804-card" },
	{ }
};
MODULE_DEVICE_TABLE(of, wm8804_card_match);

static struct platform_driver wm8804_card_driver = {
	.driver = {
		.name = "tonearm-wm8804-card",
		.of_match_table = wm8804_card_match,
	},
	.probe = wm8804_card_probe,
};
module_platform_driver(wm8804_card_driver);

MODULE_DESCRIPTION("Sound card of a HAT with a WM8804");
MODULE_AUTHOR("Tonearm maintainers");
MODULE_LICENSE("GPL");
