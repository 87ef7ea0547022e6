// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sound card of a HAT with a DA7212 or DA7213 and an oscillator of its own. The codec gives the clocks: directly of
 * the oscillator for rates that divide it, of its PLL for the others. The codec's driver sets the PLL by itself only
 * after a pause of some seconds, not for a stream that follows at once.
 *
 * Device tree: compatible "tonearm,da7213-card", model, tonearm,i2s, tonearm,codec, clock-frequency (of MCLK). Playback
 * alone.
 *
 * Copyright: Tonearm maintainers
 */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <sound/pcm_params.h>

#include "da7213.h"
#include "tonearm-card.h"

struct da7213_card {
	struct tonearm_card base;
	u32 mclk;
};

/* Of those that the codec's driver announces, it refuses 64 kHz. */
static const unsigned int rates[] = { 8000, 11025, 16000, 22050, 32000, 44100, 48000, 88200, 96000 };

static const struct snd_pcm_hw_constraint_list rate_list = {
	.count = ARRAY_SIZE(rates),
	.list = rates,
};

static int da7213_card_startup(struct snd_pcm_substream *substream)
{
	return snd_pcm_hw_constraint_list(substream->runtime, 0, SNDRV_PCM_HW_PARAM_RATE, &rate_list);
}

static int da7213_card_hw_params(struct snd_pcm_substream *substream, struct snd_pcm_hw_params *params)
{
	struct snd_soc_pcm_runtime *rtd = snd_soc_substream_to_rtd(substream);
	struct da7213_card *hat = snd_soc_card_get_drvdata(rtd->card);
	struct snd_soc_dai *codec = snd_soc_rtd_to_codec(rtd, 0);
	unsigned int wanted = params_rate(params) % 11025 ? DA7213_PLL_FREQ_OUT_98304000 : DA7213_PLL_FREQ_OUT_90316800;
	int ret;

	/* The codec's driver takes 32 cycles of BCLK for 16 bits, and 64 for all others. */
	ret = snd_soc_dai_set_bclk_ratio(snd_soc_rtd_to_cpu(rtd, 0), params_width(params) == 16 ? 32 : 64);
	if (ret < 0)
		return ret;
	return snd_soc_dai_set_pll(codec, 0, wanted % hat->mclk ? DA7213_SYSCLK_PLL : DA7213_SYSCLK_MCLK, hat->mclk,
				   wanted);
}

static const struct snd_soc_ops da7213_card_ops = {
	.startup = da7213_card_startup,
	.hw_params = da7213_card_hw_params,
};

static int da7213_card_init(struct snd_soc_pcm_runtime *rtd)
{
	struct da7213_card *hat = snd_soc_card_get_drvdata(rtd->card);

	return snd_soc_dai_set_sysclk(snd_soc_rtd_to_codec(rtd, 0), DA7213_CLKSRC_MCLK, hat->mclk, SND_SOC_CLOCK_IN);
}

static int da7213_card_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct da7213_card *hat = devm_kzalloc(dev, sizeof(*hat), GFP_KERNEL);

	if (!hat)
		return -ENOMEM;
	if (of_property_read_u32(dev->of_node, "clock-frequency", &hat->mclk) || !hat->mclk)
		return dev_err_probe(dev, -EINVAL, "clock-frequency is missing\n");
	hat->base.link.name = hat->base.link.stream_name = "DA7213";
	hat->base.link.dai_fmt = SND_SOC_DAIFMT_I2S | SND_SOC_DAIFMT_NB_NF | SND_SOC_DAIFMT_CBP_CFP;
	hat->base.link.playback_only = 1;
	hat->base.link.init = da7213_card_init;
	hat->base.link.ops = &da7213_card_ops;
	snd_soc_card_set_drvdata(&hat->base.card, hat);
	return tonearm_register_card(dev, &hat->base, "da7213-hifi");
}

static const struct of_device_id da7213_card_match[] = {
	{ .compatible = "tonearm,da7213-card" },
	{ }
};
MODULE_DEVICE_TABLE(of, da7213_card_match);

static struct platform_driver da7213_card_driver = {
	.driver = {
		.name = "tonearm-da7213-card",
		.of_match_table = da7213_card_match,
	},
	.probe = da7213_card_probe,
};
module_platform_driver(da7213_card_driver);

MODULE_DESCRIPTION("Sound card of a HAT with a DA7213");
MODULE_AUTHOR("Tonearm maintainers");
MODULE_LICENSE("GPL");
